// SPDX-License-Identifier: MIT
// A queue that takes an entry each cycle. What finds no room is counted; as soon as half of the queue is free two
// entries tell since when and how many, and `resumed` says so. No entry is taken before both are in: the count is exact.
`include "tracelab_wire.vh"
module tl_queue #(
	parameter BITS = 10,
	parameter [2:0] SINCE = 0, // enum tl_loss of the two
	parameter [2:0] COUNT = 1
) (
	input wire clk,
	input wire reset,
	input wire put,
	input wire counts,
	input wire [61:0] entry,
	input wire [48:0] at, // time of the entry
	output reg ready,     // out is the oldest entry
	output reg [61:0] out,
	input wire get,
	output reg dropped,
	output wire losing,
	output reg resumed
);

	localparam [1:0] OPEN = 0, FULL = 1, TELL = 2;

	reg [61:0] memory[0:(1 << BITS) - 1];
	reg [BITS-1:0] head, tail;
	reg [BITS:0] level;
	reg [1:0] state;
	reg [48:0] since;
	reg [39:0] lost; // less 1

	// One stage before the memory, so that its inputs are short paths.
	reg write;
	reg [61:0] data;

	wire full = level[BITS];
	wire room = level[BITS:BITS-1] == 2'b00;
	wire lose = put & counts;

	// The level counts an entry when it is decided, before it is in the memory.
	wire taking = state == OPEN ? put & ~full : state == FULL ? room : 1'b1;

	always @(posedge clk) begin
		dropped <= 1'b0;
		resumed <= 1'b0;
		write <= taking;
		data <= entry;
		case (state)
		OPEN: begin
			lost <= 0;
			if (full & lose) begin
				state <= FULL;
				since <= at;
				dropped <= 1'b1;
			end
		end
		FULL: begin
			data <= {1'b1, 3'd`TL_LOSS, SINCE, 6'd0, since};
			if (lose) begin
				lost <= lost + 1'b1;
				dropped <= 1'b1;
			end
			if (room) state <= TELL;
		end
		default: begin
			data <= {1'b0, 3'd`TL_LOSS, COUNT, 15'd0, lost + {38'd0, lose, ~lose}};
			dropped <= lose;
			resumed <= 1'b1;
			state <= OPEN;
		end
		endcase
		level <= level + {{BITS{1'b0}}, taking} - {{BITS{1'b0}}, get};
		if (write) tail <= tail + 1'b1;
		if (get) head <= head + 1'b1;
		ready <= head != tail & ~get;
		if (reset) begin
			state <= OPEN;
			level <= 0;
			head <= 0;
			tail <= 0;
			write <= 1'b0;
			ready <= 1'b0;
			dropped <= 1'b0;
			resumed <= 1'b0;
		end
	end

	always @(posedge clk) begin
		if (write) memory[tail] <= data;
		out <= memory[head];
	end

	assign losing = state != OPEN;

endmodule
