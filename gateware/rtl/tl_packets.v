// SPDX-License-Identifier: MIT
// Merges the two queues, the second first, and makes packets of their entries: a marker before one whose time has other upper
// bits than the last marker, and two packets of a loss' count.
`include "tracelab_wire.vh"
module tl_packets (
	input wire clk,
	input wire reset,
	input wire event_ready,
	input wire [61:0] event_entry,
	output reg event_get,
	input wire other_ready,
	input wire [61:0] other_entry,
	output reg other_get,
	output reg valid,
	output reg [31:0] packet,
	input wire taken
);

	localparam [2:0] PICK = 0, COMPARE = 1, MARK = 2, BODY = 3, SECOND = 4;

	reg [2:0] state;
	reg [61:0] entry;
	reg [28:0] upper;
	reg known;   // a marker was sent
	reg differs;

	wire timed = entry[61];
	wire [2:0] kind = entry[60:58];
	wire count = kind == `TL_LOSS & ~timed;
	wire free = ~valid | taken;

	always @(posedge clk) begin
		event_get <= 1'b0;
		other_get <= 1'b0;
		if (taken) valid <= 1'b0;
		case (state)
		// A get shows in ready two cycles later: we are not back before.
		PICK:
			if (other_ready) begin
				entry <= other_entry;
				other_get <= 1'b1;
				state <= COMPARE;
			end else if (event_ready) begin
				entry <= event_entry;
				event_get <= 1'b1;
				state <= COMPARE;
			end
		COMPARE: begin
			differs <= timed & (~known | entry[48:20] != upper);
			state <= MARK;
		end
		MARK:
			if (~differs)
				state <= BODY;
			else if (free) begin
				packet <= {3'd`TL_MARKER, entry[48:20]};
				valid <= 1'b1;
				upper <= entry[48:20];
				known <= 1'b1;
				state <= BODY;
			end
		BODY:
			if (kind == `TL_MARKER)
				state <= PICK;
			else if (free) begin
				packet <= count ? {kind, entry[57:55], 12'd0, entry[39:26]}
						: {kind, entry[57:49], entry[19:0]};
				valid <= 1'b1;
				state <= count ? SECOND : PICK;
			end
		default:
			if (free) begin
				packet <= {kind, entry[57:55] + 3'd1, entry[25:0]};
				valid <= 1'b1;
				state <= PICK;
			end
		endcase
		if (reset) begin
			state <= PICK;
			known <= 1'b0;
			valid <= 1'b0;
			event_get <= 1'b0;
			other_get <= 1'b0;
		end
	end

endmodule
