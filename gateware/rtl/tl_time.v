// SPDX-License-Identifier: MIT
// The count that everything is stamped with: cycles in fine mode, ticks in paper mode. It shows a tick two cycles after it.
module tl_time (
	input wire clk,
	input wire reset,
	input wire fine,
	input wire tick,
	output reg [48:0] now,
	output reg wrapped // the lower bits have just become 0
);

	// The upper bits are added one cycle later, to what the lower ones were: two short carries instead of a long one.
	reg [19:0] low;
	reg carry;

	wire step = fine | tick;

	always @(posedge clk) begin
		if (reset) begin
			low <= 0;
			carry <= 1'b0;
			now <= 0;
			wrapped <= 1'b0;
		end else begin
			low <= low + {19'd0, step};
			carry <= step & (&low);
			now[19:0] <= low;
			now[48:20] <= now[48:20] + {28'd0, carry};
			wrapped <= carry;
		end
	end

endmodule
