// SPDX-License-Identifier: MIT
// Commands from the UART, their checks, and the answers. tracelab_wire.h has the frames.
`include "tracelab_wire.vh"
module tl_command #(
	parameter RING_BITS = 18
) (
	input wire clk,
	input wire reset,
	input wire rx_valid,
	input wire [7:0] rx_data,
	output reg tx_valid,
	output reg [7:0] tx_data,
	input wire tx_ready,
	input wire [48:0] now,
	input wire [223:0] status,
	input wire [6:0] act_level,
	output reg running,
	output reg fine,
	output reg start,
	output reg [8:0] mask,
	output reg period_set,
	output reg [15:0] period,
	output reg act_put,
	output reg [48:0] act_time,
	output wire [1:0] act_action,
	output wire [2:0] act_lines,
	output wire [5:0] act_id,
	output reg [7:0] bad_bytes
);

	localparam [2:0] HUNT = 0, HEAD = 1, PAYLOAD = 2, CHECK = 3, EXECUTE = 4, ANSWER = 5, JUDGE = 6;

	reg [2:0] state;
	reg [1:0] field; // command, tag, length
	reg [7:0] command, tag;
	reg [4:0] length, left;
	reg [119:0] payload; // its last byte is the highest
	reg [7:0] crc;
	reg [19:0] silence;
	reg [3:0] step;
	reg [7:0] code;
	reg [48:0] limit, last_end;
	reg [49:0] end_;
	reg wrong, limit_carry, end_carry;
	// Registered, as they are there long before their use.
	reg too_long, mode_bad, mask_bad, period_bad, known, fits, room, intact;
	reg sooner, disorder;
	reg sooner_high, sooner_same, sooner_low; // than the limit
	reg order_high, order_same, order_low;    // than what was queued last
	reg [5:0] index, answer_length;
	reg [7:0] next_byte;
	reg loaded, ending, silent;
	reg [223:0] data;

	wire [63:0] time_ = payload[63:0];
	wire [7:0] action = payload[71:64];
	wire [7:0] lines = payload[79:72];
	wire [31:0] width = payload[111:80];
	wire [15:0] word = payload[119:104];
	wire pulse = action == `TL_ACT_PULSE;

	assign act_action = action[1:0];
	assign act_lines = lines[2:0];
	assign act_id = payload[117:112];

	function [7:0] crc8(input [7:0] previous, input [7:0] byte_);
		integer i;
		begin
			crc8 = previous ^ byte_;
			for (i = 0; i < 8; i = i + 1)
				crc8 = {crc8[6:0], 1'b0} ^ (crc8[7] ? `TL_CRC8 : 8'd0);
		end
	endfunction

	function [4:0] wanted(input [7:0] which);
		case (which)
		`TL_START: wanted = 5'd1;
		`TL_MASK, `TL_PERIOD: wanted = 5'd2;
		`TL_ACT: wanted = 5'd15;
		default: wanted = 5'd0;
		endcase
	endfunction

	always @(*)
		case (index)
		6'd0: next_byte = `TL_TO_HOST;
		6'd1: next_byte = command;
		6'd2: next_byte = tag;
		6'd3: next_byte = {2'd0, answer_length};
		6'd4: next_byte = code;
		default: next_byte = ending ? crc : data[7:0];
		endcase

	always @(posedge clk) begin
		too_long <= rx_data > `TL_PAYLOAD_MAX; // a byte is there before it is valid
		mode_bad <= payload[119:112] > `TL_FINE;
		mask_bad <= |word[15:9];
		period_bad <= word != 0 & word < `TL_PERIOD_MIN;
		known <= command >= `TL_HELLO & command <= `TL_STATUS;
		fits <= length == wanted(command);
		room <= ~act_level[6] & ~(pulse & act_level == `TL_ACT_QUEUE - 1);
		sooner <= sooner_high | (sooner_same & sooner_low);
		disorder <= order_high | (order_same & order_low);
		start <= 1'b0;
		period_set <= 1'b0;
		act_put <= 1'b0;
		tx_valid <= 1'b0;
		silent <= silence == `TL_CUT_CYCLES;
		silence <= state == HUNT | rx_valid ? 20'd0 : silence + 1'b1;
		if (rx_valid & bad_bytes != 8'hff &
		    (state == EXECUTE | state == ANSWER | (state == HUNT & rx_data != `TL_TO_OBSERVER)))
			bad_bytes <= bad_bytes + 1'b1;

		case (state)
		HUNT: begin
			field <= 0;
			crc <= 0;
			step <= 0;
			index <= 0;
			loaded <= 1'b0;
			ending <= 1'b0;
			code <= `TL_OK;
			answer_length <= 6'd1;
			command <= 0;
			tag <= 0;
			if (rx_valid & rx_data == `TL_TO_OBSERVER) state <= HEAD;
		end
		HEAD:
			if (rx_valid) begin
				crc <= crc8(crc, rx_data);
				field <= field + 1'b1;
				case (field)
				2'd0: command <= rx_data;
				2'd1: tag <= rx_data;
				default: begin
					length <= rx_data[4:0];
					left <= rx_data[4:0];
					if (too_long) begin
						code <= `TL_BAD_LENGTH;
						state <= ANSWER;
						crc <= 0;
					end else
						state <= rx_data == 0 ? CHECK : PAYLOAD;
				end
				endcase
			end
		PAYLOAD:
			if (rx_valid) begin
				crc <= crc8(crc, rx_data);
				payload <= {rx_data, payload[119:8]};
				left <= left - 1'b1;
				if (left == 5'd1) state <= CHECK;
			end
		CHECK:
			if (rx_valid) begin
				crc <= 0;
				intact <= rx_data == crc;
				state <= JUDGE;
			end
		JUDGE: begin
			state <= ANSWER;
			if (~intact)
				code <= `TL_BAD_CRC;
			else if (~known)
				code <= `TL_UNKNOWN;
			else if (~fits)
				code <= `TL_BAD_LENGTH;
			else
				state <= EXECUTE;
		end
		EXECUTE: begin
			state <= ANSWER;
			case (command)
			`TL_HELLO: begin
				answer_length <= 6'd5;
				data[31:0] <= {8'd`TL_TICK_CYCLES, 8'd`TL_ACT_QUEUE, RING_BITS[7:0], 8'd`TL_VERSION};
			end
			`TL_START:
				if (running)
					code <= `TL_RUNNING;
				else if (mode_bad)
					code <= `TL_BAD_VALUE;
				else begin
					start <= 1'b1;
					running <= 1'b1;
					fine <= payload[112];
					last_end <= 0;
				end
			`TL_STOP: running <= 1'b0;
			`TL_MASK:
				if (mask_bad)
					code <= `TL_BAD_VALUE;
				else
					mask <= word[8:0];
			`TL_PERIOD:
				if (~running)
					code <= `TL_NOT_RUNNING;
				else if (period_bad)
					code <= `TL_BAD_VALUE;
				else begin
					period <= word;
					period_set <= 1'b1;
				end
			`TL_ACT: begin
				step <= step + 1'b1;
				state <= EXECUTE;
				case (step)
				4'd0: begin
					// In halves: no carry shall go through 49 bits.
					{limit_carry, limit[24:0]} <= {1'b0, now[24:0]} + `TL_ACT_AHEAD;
					limit[48:25] <= now[48:25];
					{end_carry, end_[24:0]} <= {1'b0, time_[24:0]} + {1'b0, width[24:0]};
					wrong <= time_[63:49] != 0 | action > `TL_ACT_PULSE | lines[7:3] != 0 | lines[2:0] == 0 |
						pulse != (width != 0);
				end
				4'd1: begin
					limit[48:25] <= limit[48:25] + {23'd0, limit_carry};
					end_[49:25] <= {1'b0, time_[48:25]} + {18'd0, width[31:25]} + {24'd0, end_carry};
				end
				4'd2: begin
					sooner_high <= time_[48:25] < limit[48:25];
					sooner_same <= time_[48:25] == limit[48:25];
					sooner_low <= time_[24:0] < limit[24:0];
					order_high <= time_[48:25] < last_end[48:25];
					order_same <= time_[48:25] == last_end[48:25];
					order_low <= time_[24:0] <= last_end[24:0];
				end
				4'd3: wrong <= wrong | end_[49];
				4'd4: begin
					act_time <= time_[48:0];
					if (~running)
						code <= `TL_NOT_RUNNING;
					else if (wrong)
						code <= `TL_BAD_VALUE;
					else if (sooner)
						code <= `TL_LATE;
					else if (disorder)
						code <= `TL_ORDER;
					else if (~room)
						code <= `TL_FULL;
					else begin
						act_put <= 1'b1;
						last_end <= end_[48:0];
					end
				end
				4'd5: begin
					act_put <= pulse & code == `TL_OK;
					act_time <= end_[48:0];
				end
				default: state <= ANSWER;
				endcase
			end
			default: begin
				answer_length <= `TL_STATUS_BYTES + 1;
				data <= status;
			end
			endcase
		end
		default: // ANSWER
			if (~loaded) begin
				tx_data <= next_byte;
				loaded <= tx_ready & ~tx_valid;
				tx_valid <= tx_ready & ~tx_valid;
			end else begin
				loaded <= 1'b0;
				index <= index + 1'b1;
				ending <= index == answer_length + 6'd3;
				if (index != 0) crc <= crc8(crc, tx_data);
				if (index > 6'd4) data <= {8'd0, data[223:8]};
				if (ending) state <= HUNT;
			end
		endcase
		if ((state == HEAD | state == PAYLOAD | state == CHECK) & silent & ~rx_valid) begin
			code <= `TL_CUT;
			crc <= 0;
			state <= ANSWER;
		end
		if (reset) begin
			state <= HUNT;
			running <= 1'b0;
			fine <= 1'b0;
			mask <= 9'h1ff;
			period <= 0;
			bad_bytes <= 0;
			last_end <= 0;
			silence <= 0;
			tx_valid <= 1'b0;
		end
	end

endmodule
