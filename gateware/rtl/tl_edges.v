// SPDX-License-Identifier: MIT
// Changes of the lines that the mask lets through become events, at most one a cycle. An entry of a queue is
// {timed, kind[2:0], aux[8:0], wide[48:0]}: bits 28..0 of its packet are aux and the lower 20 bits of wide, and if timed wide is its
// time. Where nothing happens as the lower bits of time wrap, a marker is all that is put.
`include "tracelab_wire.vh"
module tl_edges (
	input wire clk,
	input wire running,
	input wire show, // put the state though nothing changed
	input wire [8:0] lines,
	input wire [8:0] mask,
	input wire [48:0] now,
	input wire wrapped,
	output reg put,
	output wire counts, // it is data: a loss if it finds no room
	output wire [61:0] entry
);

	reg [8:0] previous, state;
	reg [48:0] at;
	reg event_;
	reg [2:0] kind;

	wire changed = |((lines ^ previous) & mask) | show;

	always @(posedge clk) begin
		previous <= lines;
		state <= lines;
		at <= now;
		event_ <= running & changed;
		kind <= changed ? `TL_EVENT : `TL_MARKER;
		put <= running & (changed | wrapped);
	end

	assign counts = event_;
	assign entry = {1'b1, kind, state, at};

endmodule
