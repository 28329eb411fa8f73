// SPDX-License-Identifier: MIT
// One entry at a time from three that hold theirs until it is taken, the first having precedence.
module tl_other (
	input wire clk,
	input wire reset,
	input wire [2:0] valid,
	input wire [61:0] entry0,
	input wire [61:0] entry1,
	input wire [61:0] entry2,
	output reg [2:0] taken,
	output reg put,
	output reg [61:0] entry
);

	// One that was just taken still looks valid.
	wire [2:0] ask = valid & ~taken;

	always @(posedge clk) begin
		put <= |ask;
		taken <= ask[0] ? 3'b001 : ask[1] ? 3'b010 : ask[2] ? 3'b100 : 3'b000;
		entry <= ask[0] ? entry0 : ask[1] ? entry1 : entry2;
		if (reset) begin
			put <= 1'b0;
			taken <= 0;
		end
	end

endmodule
