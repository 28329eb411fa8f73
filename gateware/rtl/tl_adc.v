// SPDX-License-Identifier: MIT
// Front end of a 16-bit SPI ADC that samples when chip select falls and then sends 4 zeros, 16 bits, 4 zeros, the first when
// it falls, the others at the falling edges of a clock that idles high (AD7680). The zeros tell whether one is there. The SPI clock is 2 MHz.
`include "tracelab_wire.vh"
module tl_adc (
	input wire clk,
	input wire reset,
	input wire running,
	input wire tick,
	input wire [48:0] now,
	input wire set, // period is new; 0: off
	input wire [15:0] period,
	input wire lost, // packets were dropped: say when the next sample was taken
	output reg on,
	output reg [15:0] bad_count,
	output reg sck,
	output reg cs_n,
	input wire miso,
	output reg valid,
	output reg [61:0] entry,
	input wire taken
);

	localparam [2:0] OFF = 0, WAIT = 1, BEGIN = 2, SHIFT = 3, SAMPLE = 4, STOP = 5;
	localparam HALF = 25;

	reg [2:0] state;
	reg [15:0] left, every;
	reg [4:0] half;
	reg [4:0] bits;
	reg [23:0] frame;
	reg [11:0] number;
	reg [48:0] at;
	reg last, ends, due, first, resume, stop;

	wire bad = |frame[23:20] | |frame[3:0];

	always @(posedge clk) begin
		if (taken) valid <= 1'b0;
		if (lost) resume <= 1'b1;
		if (set | ~running) stop <= on;
		if (set) every <= period;

		// The period goes on while a sample is shifted in.
		last <= left == 16'd1 | first;
		ends <= tick & on & last;
		due <= ends; // when time shows the tick
		if (tick & on) left <= last ? every : left - 1'b1;

		case (state)
		OFF: begin
			on <= 1'b0;
			stop <= 1'b0;
			if (running & every != 0 & ~set) begin
				on <= 1'b1;
				first <= 1'b1;
				resume <= 1'b0;
				number <= 0;
				state <= WAIT;
			end
		end
		WAIT:
			if (stop & ~set)
				state <= STOP;
			else if (due) begin
				cs_n <= 1'b0;
				at <= now;
				bits <= 0;
				half <= 0;
				state <= BEGIN;
			end
		BEGIN: begin
			if (first & ~valid) begin
				entry <= {1'b1, 3'd`TL_POWER, 2'd`TL_POWER_START, 7'd0, at};
				valid <= 1'b1;
				first <= 1'b0;
			end
			if (~first) state <= SHIFT;
		end
		SHIFT: begin
			half <= half == HALF - 1 ? 5'd0 : half + 1'b1;
			if (half == HALF - 1) begin
				sck <= ~sck;
				// About to fall: the bit of the fall before has settled.
				if (sck) begin
					frame <= {frame[22:0], miso};
					bits <= bits + 1'b1;
					if (bits == 5'd23) begin
						sck <= 1'b1;
						cs_n <= 1'b1;
						state <= SAMPLE;
					end
				end
			end
		end
		SAMPLE:
			if (~valid) begin
				valid <= 1'b1;
				resume <= lost;
				if (resume)
					entry <= {1'b1, 3'd`TL_POWER, 2'd`TL_POWER_RESUME, 7'd0, at};
				else begin
					entry <= {1'b0, 3'd`TL_SAMPLE, bad, number[11:4], 29'd0, number[3:0], frame[19:4]};
					number <= number + 1'b1;
					bad_count <= bad_count + {15'd0, bad};
					state <= WAIT;
				end
			end
		default: // STOP
			if (~valid) begin
				entry <= {1'b1, 3'd`TL_POWER, 2'd`TL_POWER_STOP, 7'd0, now};
				valid <= 1'b1;
				state <= OFF;
			end
		endcase
		if (~running) every <= 0;
		if (reset) begin
			state <= OFF;
			valid <= 1'b0;
			every <= 0;
			on <= 1'b0;
			ends <= 1'b0;
			due <= 1'b0;
			stop <= 1'b0;
			sck <= 1'b1;
			cs_n <= 1'b1;
			bad_count <= 0;
		end
	end

endmodule
