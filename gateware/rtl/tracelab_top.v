// SPDX-License-Identifier: MIT
// A TraceLab observer. README.md draws how data go through it.
`include "tracelab_wire.vh"
module tracelab_top #(
	parameter RING_BITS = 18, // log2 of the packets that the SRAM holds: 18 is 1 MiB
	parameter COUNT_BITS = `TL_LOSS_BITS
) (
	input wire clk, // 100 MHz
	input wire rst_n,
	input wire [4:0] line,
	input wire pps,
	output wire [2:0] act,
	input wire spi_sck,
	input wire spi_cs_n,
	output wire spi_miso,
	output wire ready, // a packet waits
	input wire uart_rx,
	output wire uart_tx,
	output wire adc_sck,
	output wire adc_cs_n,
	input wire adc_miso,
	output wire [RING_BITS:0] sram_a,
	input wire [15:0] sram_in,
	output wire [15:0] sram_out,
	output wire sram_drive,
	output wire sram_we_n,
	output wire sram_oe_n
);

	wire [8:0] lines;
	wire sck, cs_n, rx, adc_in, rst_sync_n;
	reg reset, clear; // clear: of all but the commands, with each start

	tl_sync #(.WIDTH(14)) inputs (
		.clk(clk),
		.in({rst_n, spi_sck, spi_cs_n, uart_rx, adc_miso, pps, act, line}),
		.out({rst_sync_n, sck, cs_n, rx, adc_in, lines})
	);

	// Commands.
	wire rx_valid, tx_valid, tx_ready, running, fine, start, period_set, act_put;
	wire [7:0] rx_data, tx_data, bad_bytes;
	wire [8:0] mask;
	wire [15:0] period;
	wire [48:0] now, act_time;
	wire [1:0] act_action;
	wire [2:0] act_lines;
	wire [5:0] act_id;
	wire [6:0] act_level;
	wire [223:0] status;

	tl_uart_rx #(.CYCLES(`TL_CLOCK_HZ / `TL_BAUD)) receiver (
		.clk(clk), .reset(reset), .rx(rx), .valid(rx_valid), .data(rx_data)
	);
	tl_uart_tx #(.CYCLES(`TL_CLOCK_HZ / `TL_BAUD)) transmitter (
		.clk(clk), .reset(reset), .valid(tx_valid), .data(tx_data), .ready(tx_ready), .tx(uart_tx)
	);
	tl_command #(.RING_BITS(RING_BITS)) commands (
		.clk(clk), .reset(reset), .rx_valid(rx_valid), .rx_data(rx_data), .tx_valid(tx_valid), .tx_data(tx_data),
		.tx_ready(tx_ready), .now(now), .status(status), .act_level(act_level), .running(running), .fine(fine),
		.start(start), .mask(mask), .period_set(period_set), .period(period), .act_put(act_put),
		.act_time(act_time), .act_action(act_action), .act_lines(act_lines), .act_id(act_id),
		.bad_bytes(bad_bytes)
	);

	// Time.
	wire tick, wrapped, aligned;
	wire [15:0] good_count, rejected_count;

	tl_time counter (
		.clk(clk), .reset(clear), .fine(fine), .tick(tick), .now(now), .wrapped(wrapped)
	);

	// The second queue's sources.
	wire [2:0] other_valid, other_taken;
	wire [61:0] clock_entry, act_entry, adc_entry, other_in;
	wire other_put, power_on, other_resumed;
	wire [15:0] adc_bad;

	tl_clock clock (
		.clk(clk), .reset(clear), .running(running), .fine(fine), .pps(lines[`TL_LINE_PPS]), .now(now), .tick(tick),
		.aligned(aligned), .good_count(good_count), .rejected_count(rejected_count), .valid(other_valid[0]),
		.entry(clock_entry), .taken(other_taken[0])
	);
	tl_act #(.BITS(6)) actuation (
		.clk(clk), .reset(clear), .running(running), .now(now), .put(act_put), .put_time(act_time),
		.put_action(act_action), .put_lines(act_lines), .put_id(act_id), .level(act_level), .lines(act),
		.valid(other_valid[1]), .entry(act_entry), .taken(other_taken[1])
	);
	tl_adc adc (
		.clk(clk), .reset(clear), .running(running), .tick(tick), .now(now), .set(period_set), .period(period),
		.lost(other_resumed), .on(power_on), .bad_count(adc_bad), .sck(adc_sck), .cs_n(adc_cs_n), .miso(adc_in),
		.valid(other_valid[2]), .entry(adc_entry), .taken(other_taken[2])
	);
	tl_other other (
		.clk(clk), .reset(clear), .valid(other_valid), .entry0(clock_entry), .entry1(act_entry),
		.entry2(adc_entry), .taken(other_taken), .put(other_put), .entry(other_in)
	);

	// Events.
	reg started;
	wire event_put, event_counts, event_resumed;
	wire [61:0] event_in;

	tl_edges edges (
		.clk(clk), .running(running & ~clear), .show(started | event_resumed), .lines(lines), .mask(mask), .now(now),
		.wrapped(wrapped), .put(event_put), .counts(event_counts), .entry(event_in)
	);

	// Queues, packets, memory, SPI.
	wire event_ready, event_get, event_dropped, event_losing;
	wire other_ready, other_get, other_dropped, other_losing;
	wire [61:0] event_out, other_out;
	wire packet_valid, packet_taken, full, first_valid, second_valid, pop;
	wire [31:0] packet, first, second;
	wire [RING_BITS:0] ring_level;

	tl_queue #(
		.BITS(10), .COUNT_BITS(COUNT_BITS), .SINCE(`TL_LOSS_EVENT_SINCE), .COUNT(`TL_LOSS_EVENT_HIGH)
	) events (
		.clk(clk), .reset(clear), .put(event_put), .counts(event_counts), .entry(event_in), .at(event_in[48:0]),
		.ready(event_ready), .out(event_out), .get(event_get), .dropped(event_dropped), .losing(event_losing),
		.resumed(event_resumed)
	);
	tl_queue #(
		.BITS(8), .COUNT_BITS(COUNT_BITS), .SINCE(`TL_LOSS_OTHER_SINCE), .COUNT(`TL_LOSS_OTHER_HIGH)
	) others (
		.clk(clk), .reset(clear), .put(other_put), .counts(other_put), .entry(other_in), .at(now), .ready(other_ready),
		.out(other_out), .get(other_get), .dropped(other_dropped), .losing(other_losing), .resumed(other_resumed)
	);
	tl_packets packets (
		.clk(clk), .reset(clear), .event_ready(event_ready), .event_entry(event_out), .event_get(event_get),
		.other_ready(other_ready), .other_entry(other_out), .other_get(other_get), .valid(packet_valid),
		.packet(packet), .taken(packet_taken)
	);
	tl_ring #(.BITS(RING_BITS)) ring (
		.clk(clk), .reset(clear), .valid(packet_valid), .packet(packet), .taken(packet_taken),
		.first_valid(first_valid), .first(first), .second_valid(second_valid), .second(second), .pop(pop),
		.level(ring_level), .full(full), .sram_a(sram_a), .sram_in(sram_in), .sram_out(sram_out),
		.sram_drive(sram_drive), .sram_we_n(sram_we_n), .sram_oe_n(sram_oe_n)
	);
	tl_spi spi (
		.clk(clk), .reset(clear), .sck(sck), .cs_n(cs_n), .miso(spi_miso), .first_valid(first_valid), .first(first),
		.second_valid(second_valid), .second(second), .pop(pop)
	);

	assign ready = first_valid;

	// Status, its first byte lowest.
	reg [31:0] lost;

	assign status = {
		lost, {31 - RING_BITS{1'b0}}, ring_level, adc_bad, rejected_count, good_count, bad_bytes, 1'b0, act_level,
		15'd0, now, 7'd0, mask, 5'd0, act,
		2'd0, event_losing | other_losing, full, aligned, power_on, fine, running
	};

	always @(posedge clk) begin
		reset <= ~rst_sync_n;
		clear <= reset | start;
		started <= clear;
		lost <= clear ? 32'd0 : lost + {31'd0, event_dropped} + {31'd0, other_dropped};
	end

endmodule
