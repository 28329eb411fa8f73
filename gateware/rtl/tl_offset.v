// SPDX-License-Identifier: MIT
// Offset detector: the observer's seconds, and where PPS edges lie against them. enum tl_clock in tracelab_wire.h tells the rules.
`include "tracelab_wire.vh"
module tl_offset #(
	parameter SECOND = `TL_SECOND_TICKS,
	parameter WINDOW = `TL_PPS_WINDOW,
	parameter STEER_TICK = `TL_STEER_TICK
) (
	input wire clk,
	input wire reset,
	input wire enable, // paper mode
	input wire pps,
	input wire tick,
	output wire edge_,  // an edge, but none that follows another closely
	output reg good,    // offset and at are a good edge's
	output reg signed [17:0] offset,
	output reg [31:0] at, // in cycles
	output reg begun,     // a second began by alignment
	output reg rejected,  // the last edge
	output reg ignored,   // an edge that follows another closely
	output reg aligned,
	output reg decide, // time to set the divider: met tells whether this second had a good edge
	output reg met,
	output reg load // the next tick is the first with the new setting
);

	localparam [3:0] LAST = `TL_PPS_PATIENCE - 1;
	localparam [31:0] SECOND_END = SECOND - 1, STEER_NEXT = STEER_TICK - 1, STEER_SOON = STEER_TICK - 2;
	localparam [31:0] WINDOW_END = WINDOW - 1;

	reg previous;
	reg [16:0] quiet;   // cycles since an edge
	reg calm, over;     // edges count again; they soon do
	reg [20:0] phase;   // of the second, in ticks
	reg [31:0] cycle;
	reg last, soon;
	reg [16:0] age;     // cycles since the second began
	reg near, second;   // age is within the window; it is 0
	reg far;            // it ends to be
	reg [16:0] early;   // cycles since an edge that may be the next second's, less 1
	reg too_early;      // as that has not begun in time, it does not
	reg waiting, align; // for that; for the tick that begins the first second
	reg [3:0] missing;

	wire rise = pps & ~previous;
	wire ends = tick & (align | last);

	assign edge_ = rise & calm;

	always @(posedge clk) begin
		previous <= pps;
		cycle <= cycle + 1'b1;
		ignored <= rise & ~calm;
		if (~calm) quiet <= quiet + 1'b1;
		over <= quiet == WINDOW_END[16:0];
		if (over) calm <= 1'b1;
		if (edge_) begin
			calm <= 1'b0;
			quiet <= 0;
			at <= cycle;
		end

		second <= ends;
		begun <= tick & align;
		// The phase stands for 49 cycles at least: time for its comparisons.
		last <= phase == SECOND_END[20:0];
		load <= phase == STEER_NEXT[20:0];
		soon <= phase == STEER_SOON[20:0];
		decide <= tick & soon;
		age <= age + 1'b1;
		far <= age == WINDOW_END[16:0];
		if (far) near <= 1'b0;
		if (tick) phase <= phase + 1'b1;
		if (ends) begin
			phase <= 0;
			age <= 0;
			near <= 1'b1;
			met <= 1'b0;
			align <= 1'b0;
		end
		if (decide) begin
			missing <= met ? 4'd0 : missing + 1'b1;
			if (~met & missing == LAST) aligned <= 1'b0;
		end

		good <= 1'b0;
		rejected <= 1'b0;
		early <= waiting ? early + 1'b1 : 17'd0;
		too_early <= early == WINDOW_END[16:0];
		if (waiting & too_early) begin
			waiting <= 1'b0;
			rejected <= 1'b1;
		end else if (waiting & second) begin
			waiting <= 1'b0;
			met <= 1'b1;
			good <= 1'b1;
			offset <= ~{1'b0, early};
		end
		if (edge_ & enable) begin
			if (~aligned) begin
				aligned <= 1'b1;
				missing <= 0;
				align <= 1'b1;
				waiting <= 1'b1;
			end else if (~near) begin
				waiting <= 1'b1;
			end else if (met)
				rejected <= 1'b1;
			else begin
				met <= 1'b1;
				good <= 1'b1;
				offset <= {1'b0, age};
			end
		end

		if (reset) begin
			calm <= 1'b1;
			quiet <= 0;
			over <= 1'b0;
			phase <= 0;
			early <= 0;
			too_early <= 1'b0;
			far <= 1'b0;
			last <= 1'b0;
			load <= 1'b0;
			soon <= 1'b0;
			near <= 1'b0;
			second <= 1'b0;
			begun <= 1'b0;
			waiting <= 1'b0;
			align <= 1'b0;
			aligned <= 1'b0;
			missing <= 0;
			met <= 1'b0;
			good <= 1'b0;
			rejected <= 1'b0;
			decide <= 1'b0;
		end
	end

endmodule
