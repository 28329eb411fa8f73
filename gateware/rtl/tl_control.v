// SPDX-License-Identifier: MIT
// Controller (Lim et al., Fig. 2): the open loop takes the mean rate over the last 8 seconds, the closed loop adds a share of the
// last offset. All in eighths of a cycle a second.
`include "tracelab_wire.vh"
module tl_control #(
	parameter SECOND = `TL_SECOND_TICKS
) (
	input wire clk,
	input wire reset,
	input wire good, // at: when, in cycles
	input wire [31:0] at,
	input wire signed [17:0] offset,
	input wire decide,
	input wire met,
	output reg signed [19:0] steer
);

	localparam [31:0] CYCLES = SECOND * `TL_TICK_CYCLES;

	reg [31:0] past[1:8]; // good edges before the newest
	reg [3:0] row;        // how many there are without a gap, up to 9 with the newest
	reg whole;            // a mean over 8 was had
	reg [31:0] from, span;
	reg signed [24:0] rate, sum;
	reg signed [31:0] error;
	reg [1:0] shift;
	reg counts;
	reg [5:0] stage;
	reg [1:0] decided;
	reg above, below;
	integer i;

	always @(posedge clk) begin
		stage <= {stage[4:0], good};
		if (good) row <= row == 9 ? row : row + 1'b1;
		// One short step a cycle; the next good edge is far.
		if (stage[0]) begin
			past[1] <= at;
			for (i = 2; i <= 8; i = i + 1)
				past[i] <= past[i - 1];
			case (row)
			4'd2: begin from <= past[1]; shift <= 2'd0; end
			4'd3: begin from <= past[2]; shift <= 2'd1; end
			4'd5: begin from <= past[4]; shift <= 2'd2; end
			default: begin from <= past[8]; shift <= 2'd3; end
			endcase
			counts <= row == 9 | (~whole & (row == 2 | row == 3 | row == 5));
			whole <= whole | row == 9;
		end
		if (stage[1]) span <= at - from;
		if (stage[2]) error <= $signed(span - (CYCLES << shift));
		if (stage[3]) error <= error <<< (2'd3 - shift);
		// Both are limited to the 20 bits of steer.
		if (stage[4]) begin
			above <= ~error[31] & |error[30:19];
			below <= error[31] & ~&error[30:19];
		end
		if (stage[5] & counts) rate <= {{6{error[31]}}, above ? 19'h7ffff : below ? 19'd0 : error[18:0]};

		decided <= {decided[0], decide};
		if (decide) begin
			sum <= rate + (met ? {{7{offset[17]}}, offset} <<< (3 - `TL_OFFSET_SHIFT) : 25'sd0);
			if (~met) row <= 0;
		end
		if (decided[0]) begin
			above <= ~sum[24] & |sum[23:19];
			below <= sum[24] & ~&sum[23:19];
		end
		if (decided[1]) steer <= {sum[24], above ? 19'h7ffff : below ? 19'd0 : sum[18:0]};
		if (reset) begin
			row <= 0;
			whole <= 1'b0;
			rate <= 0;
			steer <= 0;
			stage <= 0;
			decided <= 0;
		end
	end

endmodule
