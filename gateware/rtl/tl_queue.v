// SPDX-License-Identifier: MIT
// A queue that takes an entry each cycle. What finds no room is counted; as soon as half of the queue is free two
// entries tell since when and how many, and `resumed` says so. No entry is taken before both are in: the count is exact. Its
// highest bit stays once it is set: that many or more.
`include "tracelab_wire.vh"
module tl_queue #(
	parameter BITS = 10,
	parameter COUNT_BITS = `TL_LOSS_BITS,
	parameter [2:0] SINCE = 0, // enum tl_loss of the two
	parameter [2:0] COUNT = 1
) (
	input wire clk,
	input wire reset,
	input wire put,
	input wire counts, // put, and it is a loss if there is no room
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
	reg [BITS:0] head, tail; // one bit more than an address: all full is not empty
	reg [BITS:0] level;
	reg [1:0] state;
	reg [48:0] since;
	reg [COUNT_BITS-1:0] lost;
	wire [COUNT_BITS-1:0] more = {1'b0, lost[COUNT_BITS-2:0]} + {{COUNT_BITS - 1{1'b0}}, counts};

	// One stage before the memory, so that its inputs are short paths.
	reg write, count; // count: not data but what was lost by then
	reg [61:0] data;

	wire full = level[BITS];
	wire room = level[BITS:BITS-1] == 2'b00;

	// The level counts an entry when it is decided, before it is in the memory.
	wire taking = state == OPEN ? put & ~full : state == FULL ? room : 1'b1;

	always @(posedge clk) begin
		dropped <= 1'b0;
		resumed <= 1'b0;
		write <= taking;
		count <= 1'b0;
		lost <= state == OPEN ? {{COUNT_BITS - 1{1'b0}}, full & counts} : {more[COUNT_BITS-1] | lost[COUNT_BITS-1], more[COUNT_BITS-2:0]};
		data <= entry;
		case (state)
		OPEN: begin
			if (full & counts) begin
				state <= FULL;
				since <= at;
				dropped <= 1'b1;
			end
		end
		FULL: begin
			data <= {1'b1, 3'd`TL_LOSS, SINCE, 6'd0, since};
			dropped <= counts;
			if (room) state <= TELL;
		end
		default: begin
			count <= 1'b1;
			dropped <= counts;
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
		if (write) memory[tail[BITS-1:0]] <= count ? {1'b0, 3'd`TL_LOSS, COUNT, {55 - COUNT_BITS{1'b0}}, lost} : data;
		out <= memory[head[BITS-1:0]];
	end

	assign losing = state != OPEN;

endmodule
