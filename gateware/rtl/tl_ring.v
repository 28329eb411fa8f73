// SPDX-License-Identifier: MIT
// A ring of packets in asynchronous 16-bit SRAM. Each 16 cycles may write one packet (cycles 0 to 7) and read one (8 to 15), two
// accesses of 40 ns each. Two packets wait here for the SPI.
module tl_ring #(
	parameter BITS = 18 // log2 of the packets: 2^(BITS + 2) bytes
) (
	input wire clk,
	input wire reset,
	input wire valid,
	input wire [31:0] packet,
	output reg taken,
	output reg first_valid,
	output reg [31:0] first,
	output reg second_valid,
	output reg [31:0] second,
	input wire pop,
	output reg [BITS:0] level,
	output wire full,
	output reg [BITS:0] sram_a,
	input wire [15:0] sram_in,
	output reg [15:0] sram_out,
	output reg sram_drive,
	output reg sram_we_n,
	output reg sram_oe_n
);

	reg [3:0] phase;
	reg [BITS-1:0] head, tail;
	reg writing, reading, arrived;
	reg [15:0] low, got, upper;

	assign full = level[BITS];

	always @(posedge clk) begin
		phase <= phase + 1'b1;
		taken <= 1'b0;
		arrived <= 1'b0;
		got <= sram_in;
		case (phase)
		4'd0: begin
			writing <= valid & ~full & ~taken;
			sram_a <= {tail, 1'b0};
			sram_out <= packet[31:16];
			low <= packet[15:0];
			sram_oe_n <= 1'b1;
			if (valid & ~full & ~taken) taken <= 1'b1;
		end
		4'd1: begin
			sram_drive <= writing;
			sram_we_n <= ~writing;
		end
		4'd3: sram_we_n <= 1'b1;
		4'd4: begin
			sram_a[0] <= 1'b1;
			sram_out <= low;
		end
		4'd5: sram_we_n <= ~writing;
		4'd7: begin
			sram_we_n <= 1'b1;
			if (writing) begin
				tail <= tail + 1'b1;
				level <= level + 1'b1;
			end
		end
		4'd8: begin
			sram_drive <= 1'b0;
			sram_a <= {head, 1'b0};
			reading <= level != 0 & ~second_valid;
		end
		4'd9: sram_oe_n <= ~reading;
		4'd12: sram_a[0] <= 1'b1;
		4'd13: upper <= got;
		4'd15:
			if (reading) begin
				head <= head + 1'b1;
				level <= level - 1'b1;
				arrived <= 1'b1;
			end
		default: ;
		endcase
		if (pop) begin
			first_valid <= second_valid;
			first <= second;
			second_valid <= 1'b0;
		end
		if (arrived) begin
			if (~first_valid | (pop & ~second_valid)) begin
				first_valid <= 1'b1;
				first <= {upper, got};
			end else begin
				second_valid <= 1'b1;
				second <= {upper, got};
			end
		end
		if (reset) begin
			phase <= 0;
			head <= 0;
			tail <= 0;
			level <= 0;
			writing <= 1'b0;
			reading <= 1'b0;
			arrived <= 1'b0;
			taken <= 1'b0;
			first_valid <= 1'b0;
			second_valid <= 1'b0;
			sram_drive <= 1'b0;
			sram_we_n <= 1'b1;
			sram_oe_n <= 1'b1;
		end
	end

endmodule
