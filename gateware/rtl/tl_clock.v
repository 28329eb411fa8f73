// SPDX-License-Identifier: MIT
// The disciplined clock: divider, offset detector, controller, and the packets that tell of them.
`include "tracelab_wire.vh"
module tl_clock #(
	parameter SECOND = `TL_SECOND_TICKS,
	parameter WINDOW = `TL_PPS_WINDOW,
	parameter STEER_TICK = `TL_STEER_TICK
) (
	input wire clk,
	input wire reset,
	input wire running,
	input wire fine,
	input wire pps,
	input wire [48:0] now,
	output wire tick,
	output wire aligned,
	output reg [15:0] good_count,
	output reg [15:0] rejected_count,
	output reg valid,
	output reg [61:0] entry,
	input wire taken
);

	wire edge_, good, begun, rejected, ignored, decide, met, load;
	wire signed [17:0] offset;
	wire [31:0] at;
	wire signed [19:0] steer;

	tl_divider #(.SECOND(SECOND)) divider (
		.clk(clk), .reset(reset), .load(load & ~fine), .steer(steer), .tick(tick)
	);
	tl_offset #(.SECOND(SECOND), .WINDOW(WINDOW), .STEER_TICK(STEER_TICK)) detector (
		.clk(clk), .reset(reset), .enable(~fine), .pps(pps), .tick(tick), .edge_(edge_), .good(good),
		.offset(offset), .at(at), .begun(begun), .rejected(rejected),
		.ignored(ignored), .aligned(aligned), .decide(decide), .met(met), .load(load)
	);
	tl_control #(.SECOND(SECOND)) control (
		.clk(clk), .reset(reset), .good(good), .at(at), .offset(offset), .decide(decide), .met(met),
		.steer(steer)
	);

	// What is to be told. Each is rare: the one before it has long gone when it comes again.
	reg tell_edge, tell_begun, tell_rejected, tell_offset, tell_at, tell_steer, loaded, steered, begun_shown;
	reg [48:0] edge_time, begin_time;

	always @(posedge clk) begin
		loaded <= tick & load & ~fine;
		steered <= loaded;
		if (good | (edge_ & fine)) good_count <= good_count + 1'b1;
		if (rejected | ignored) rejected_count <= rejected_count + 1'b1;
		if (edge_) begin
			tell_edge <= 1'b1;
			edge_time <= now;
		end
		begun_shown <= begun;
		if (begun_shown | steered) begin_time <= now; // when time shows the tick
		if (begun_shown) tell_begun <= 1'b1;
		if (good) tell_offset <= 1'b1;
		if (rejected) tell_rejected <= 1'b1;
		if (steered) tell_at <= 1'b1;
		if (steered) tell_steer <= 1'b1;
		if (taken) valid <= 1'b0;
		if (~valid) begin
			if (tell_edge) begin
				valid <= 1'b1;
				tell_edge <= 1'b0;
				entry <= {1'b1, 3'd`TL_CLOCK, 3'd`TL_CLOCK_PPS, 6'd0, edge_time};
			end else if (tell_rejected) begin
				valid <= 1'b1;
				tell_rejected <= 1'b0;
				entry <= {1'b1, 3'd`TL_CLOCK, 3'd`TL_CLOCK_REJECTED, 6'd0, edge_time};
			end else if (tell_begun) begin
				valid <= 1'b1;
				tell_begun <= 1'b0;
				entry <= {1'b1, 3'd`TL_CLOCK, 3'd`TL_CLOCK_ALIGN, 6'd0, begin_time};
			end else if (tell_offset) begin
				valid <= 1'b1;
				tell_offset <= 1'b0;
				entry <= {1'b0, 3'd`TL_CLOCK, 3'd`TL_CLOCK_OFFSET, {6{offset[17]}}, 29'd0, {2{offset[17]}}, offset};
			end else if (tell_at) begin
				valid <= 1'b1;
				tell_at <= 1'b0;
				entry <= {1'b1, 3'd`TL_CLOCK, 3'd`TL_CLOCK_STEER_AT, 6'd0, begin_time};
			end else if (tell_steer) begin
				valid <= 1'b1;
				tell_steer <= 1'b0;
				entry <= {1'b0, 3'd`TL_CLOCK, 3'd`TL_CLOCK_STEER, {6{steer[19]}}, 29'd0, steer};
			end
		end
		if (reset | ~running) begin
			tell_edge <= 1'b0;
			tell_begun <= 1'b0;
			tell_rejected <= 1'b0;
			tell_offset <= 1'b0;
			tell_at <= 1'b0;
			tell_steer <= 1'b0;
		end
		if (reset) begin
			valid <= 1'b0;
			loaded <= 1'b0;
			steered <= 1'b0;
			begun_shown <= 1'b0;
			good_count <= 0;
			rejected_count <= 0;
		end
	end

endmodule
