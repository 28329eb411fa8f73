// SPDX-License-Identifier: MIT
// Two flip-flops for inputs that know nothing of our clock.
module tl_sync #(
	parameter WIDTH = 1
) (
	input wire clk,
	input wire [WIDTH-1:0] in,
	output reg [WIDTH-1:0] out
);

	reg [WIDTH-1:0] first;

	always @(posedge clk) begin
		first <= in;
		out <= first;
	end

endmodule
