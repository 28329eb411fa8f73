// SPDX-License-Identifier: MIT
// UART receiver, 8N1. A byte whose stop bit is low is dropped, and nothing begins before the line is high again.
module tl_uart_rx #(
	parameter CYCLES = 100 // of a bit
) (
	input wire clk,
	input wire reset,
	input wire rx,
	output reg valid,
	output reg [7:0] data
);

	localparam [31:0] LAST = CYCLES - 1;
	localparam [7:0] WHOLE = LAST[7:0];
	localparam [7:0] HALF = LAST[8:1];

	reg [7:0] passed;
	reg [3:0] bits; // of start, 8 data, stop: how many are still to come
	reg high;

	always @(posedge clk) begin
		valid <= 1'b0;
		if (bits == 0) begin
			high <= rx;
			if (high & ~rx) begin
				bits <= 4'd10;
				passed <= 0;
			end
		end else if (passed != (bits == 4'd10 ? HALF : WHOLE))
			passed <= passed + 1'b1;
		else begin
			passed <= 0;
			bits <= bits - 1'b1;
			if (bits == 4'd10) begin
				if (rx) bits <= 0; // it was no start bit
			end else if (bits == 4'd1) begin
				valid <= rx;
				high <= rx;
			end else
				data <= {rx, data[7:1]};
		end
		if (reset) begin
			bits <= 0;
			high <= 1'b0;
			valid <= 1'b0;
		end
	end

endmodule
