// SPDX-License-Identifier: MIT
// The observer on an icoBoard: iCE40 HX8K, 100 MHz, 1 MiB of SRAM with 16 data lines.
module icoboard (
	input wire clk,
	input wire [4:0] line,
	input wire pps,
	output wire [2:0] act,
	input wire spi_sck,
	input wire spi_cs_n,
	output wire spi_miso,
	output wire ready,
	input wire uart_rx,
	output wire uart_tx,
	output wire adc_sck,
	output wire adc_cs_n,
	input wire adc_miso,
	output wire [18:0] sram_a,
	inout wire [15:0] sram_d,
	output wire sram_we_n,
	output wire sram_oe_n,
	output wire sram_ce_n,
	output wire sram_lb_n,
	output wire sram_ub_n
);

	wire [15:0] sram_in, sram_out;
	wire sram_drive;

	// Registers are 0 after the configuration.
	reg [7:0] age = 0;

	always @(posedge clk)
		if (~&age) age <= age + 1'b1;

	assign sram_ce_n = 1'b0;
	assign sram_lb_n = 1'b0;
	assign sram_ub_n = 1'b0;

	// An output with output enable, and a plain input.
	SB_IO #(.PIN_TYPE(6'b1010_01)) data[15:0] (
		.PACKAGE_PIN(sram_d), .OUTPUT_ENABLE(sram_drive), .D_OUT_0(sram_out), .D_IN_0(sram_in)
	);

	tracelab_top observer (
		.clk(clk), .rst_n(&age), .line(line), .pps(pps), .act(act), .spi_sck(spi_sck), .spi_cs_n(spi_cs_n),
		.spi_miso(spi_miso), .ready(ready), .uart_rx(uart_rx), .uart_tx(uart_tx), .adc_sck(adc_sck),
		.adc_cs_n(adc_cs_n), .adc_miso(adc_miso), .sram_a(sram_a), .sram_in(sram_in), .sram_out(sram_out),
		.sram_drive(sram_drive), .sram_we_n(sram_we_n), .sram_oe_n(sram_oe_n)
	);

endmodule
