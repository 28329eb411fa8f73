// SPDX-License-Identifier: MIT
// Ticks of 49, 50 or 51 cycles: n ticks after `load` take 50 n + floor((n E + H) / 2 H) cycles, H = 4 SECOND, so that a second's
// correction of E eighths of a cycle is spread evenly over its ticks.
`include "tracelab_wire.vh"
module tl_divider #(
	parameter SECOND = `TL_SECOND_TICKS
) (
	input wire clk,
	input wire reset,
	input wire load, // with a tick: the tick that begins now is the first with `steer`
	input wire signed [19:0] steer,
	output reg tick // the last cycle of a tick
);

	localparam [31:0] WIDE = 4 * SECOND;
	localparam signed [26:0] HALF = WIDE[26:0];

	reg [5:0] cycle, end_; // end_: the last cycle but one
	reg signed [26:0] sum, less, more;
	reg signed [19:0] step;
	reg above, below;

	// Of the 49 cycles that a tick takes at least, the first four decide on its length.
	always @(posedge clk) begin
		tick <= cycle == end_;
		cycle <= tick ? 6'd0 : cycle + 1'b1;
		if (tick & load) begin
			sum <= 0;
			step <= steer;
		end
		case (cycle)
		6'd0: sum <= sum + {{7{step[19]}}, step};
		6'd1: begin
			less <= sum - HALF;
			more <= sum + HALF;
		end
		6'd2: begin
			above <= ~less[26];
			below <= more[26];
		end
		6'd3: begin
			if (above)
				sum <= less - HALF;
			else if (below)
				sum <= more + HALF;
			end_ <= above ? `TL_TICK_CYCLES - 1 : below ? `TL_TICK_CYCLES - 3 : `TL_TICK_CYCLES - 2;
		end
		default: ;
		endcase
		if (reset) begin
			cycle <= 0;
			tick <= 1'b0;
			end_ <= `TL_TICK_CYCLES - 2;
			sum <= 0;
			step <= 0;
		end
	end

endmodule
