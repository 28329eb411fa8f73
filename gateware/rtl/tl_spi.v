// SPDX-License-Identifier: MIT
// The SPI slave. MISO changes after the edge at which the master took the bit before, 20 to 30 ns later: at 12 MHz half a
// period would be too short to wait for the other edge. A packet is gone when its last bit was clocked.
`include "tracelab_wire.vh"
module tl_spi (
	input wire clk,
	input wire reset,
	input wire sck,
	input wire cs_n,
	output wire miso,
	input wire first_valid,
	input wire [31:0] first,
	input wire second_valid,
	input wire [31:0] second,
	output reg pop
);

	reg previous;
	reg [31:0] shift;
	reg [4:0] bits;
	reg [5:0] word;
	reg [15:0] sent;
	reg [11:0] crc;
	reg data; // a packet is in the shift register

	wire rise = sck & ~previous;
	wire last = bits == 5'd31;
	wire [11:0] crc_next = {crc[10:0], 1'b0} ^ (crc[11] ^ shift[31] ? `TL_CRC12 : 12'd0);
	wire sync = word == 0;
	wire [15:0] sent_next = sent + {15'd0, data};
	// The packet in the shift register is still the ring's first.
	wire next_valid = data ? second_valid : first_valid;

	assign miso = shift[31];

	always @(posedge clk) begin
		previous <= sck;
		pop <= 1'b0;
		if (cs_n) begin
			shift <= {4'd`TL_SYNC_TOP, sent, 12'd0};
			bits <= 0;
			word <= 0;
			crc <= `TL_CRC12_INIT;
			data <= 1'b0;
		end else if (rise) begin
			bits <= bits + 1'b1;
			shift <= {shift[30:0], 1'b0};
			crc <= crc_next;
			if (sync & bits == 5'd19) shift[31:20] <= crc_next;
			if (last) begin
				word <= word + 1'b1;
				pop <= data;
				sent <= sent_next;
				if (sync) crc <= `TL_CRC12_INIT;
				data <= word != 6'd63 & next_valid;
				shift <= word == 6'd63 ? {4'd`TL_SYNC_TOP, sent_next, 12'd0}
					: ~next_valid ? `TL_IDLE : data ? second : first;
			end
		end
		if (reset) begin
			sent <= 0;
			data <= 1'b0;
			pop <= 1'b0;
		end
	end

endmodule
