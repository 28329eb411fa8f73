// SPDX-License-Identifier: MIT
// Actuations wait in a queue for their time. The comparison takes two cycles, so the lines change that much after time shows it.
`include "tracelab_wire.vh"
module tl_act #(
	parameter BITS = 6
) (
	input wire clk,
	input wire reset,
	input wire running, // what is queued is dropped where this ends
	input wire [48:0] now,
	input wire put,
	input wire [48:0] put_time,
	input wire [1:0] put_action, // enum tl_act; a pulse is two of its kind
	input wire [2:0] put_lines,
	input wire [5:0] put_id,
	output reg [BITS:0] level,
	output reg [2:0] lines,
	output reg valid,
	output reg [61:0] entry,
	input wire taken
);

	reg [59:0] memory[0:(1 << BITS) - 1];
	reg [59:0] head;
	reg [BITS:0] first, last; // one bit more than an address
	reg [3:0] fresh; // head has been there for so many cycles, as bits
	reg later, same, low, done;
	reg [5:0] id; // of the one that was just done

	wire [48:0] time_ = head[59:11];
	wire [1:0] action = head[10:9];
	wire [2:0] which = head[8:6];
	wire due = fresh[3] & (later | (same & low)) & ~valid & ~done;
	wire [2:0] next = action == `TL_ACT_SET ? lines | which : action == `TL_ACT_CLEAR ? lines & ~which : lines ^ which;

	always @(posedge clk) begin
		later <= now[48:25] > time_[48:25];
		same <= now[48:25] == time_[48:25];
		low <= now[24:0] >= time_[24:0];
		fresh <= first == last | due ? 4'd0 : {fresh[2:0], 1'b1};
		done <= due;
		if (taken) valid <= 1'b0;
		if (due) begin
			lines <= next;
			first <= first + 1'b1;
		end
		if (done) begin
			entry <= {1'b1, 3'd`TL_ACTED, lines, id, now};
			valid <= 1'b1;
		end
		if (due) id <= head[5:0];
		if (put) last <= last + 1'b1;
		level <= level + {{BITS{1'b0}}, put} - {{BITS{1'b0}}, due};
		if (reset | ~running) begin
			first <= 0;
			last <= 0;
			level <= 0;
			fresh <= 0;
		end
		if (reset) begin
			lines <= 0;
			valid <= 1'b0;
			done <= 1'b0;
		end
	end

	always @(posedge clk) begin
		if (put) memory[last[BITS-1:0]] <= {put_time, put_action, put_lines, put_id};
		head <= memory[first[BITS-1:0]];
	end

endmodule
