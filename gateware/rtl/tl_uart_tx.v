// SPDX-License-Identifier: MIT
// UART transmitter, 8N1.
module tl_uart_tx #(
	parameter CYCLES = 100
) (
	input wire clk,
	input wire reset,
	input wire valid,
	input wire [7:0] data,
	output wire ready,
	output wire tx
);

	localparam [31:0] LAST = CYCLES - 1;
	localparam [7:0] WHOLE = LAST[7:0];

	reg [9:0] shift; // lowest bit first; ones follow the stop bit
	reg [3:0] bits;
	reg [7:0] passed;

	assign tx = shift[0];
	assign ready = bits == 0;

	always @(posedge clk) begin
		if (ready) begin
			if (valid) begin
				shift <= {1'b1, data, 1'b0};
				bits <= 4'd10;
				passed <= 0;
			end
		end else if (passed != WHOLE)
			passed <= passed + 1'b1;
		else begin
			passed <= 0;
			bits <= bits - 1'b1;
			shift <= {1'b1, shift[9:1]};
		end
		if (reset) begin
			bits <= 0;
			shift <= 10'h3ff;
		end
	end

endmodule
