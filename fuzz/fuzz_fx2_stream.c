/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../src/capture/drivers/fx2/proto.h"

/*
 * A device that says anything: settings first, then transfers (two bytes of length) and, where one
 * was short, the record that follows it.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fx2_settings settings;
	struct driver_loss loss;
	struct cvl_error err;
	struct fx2_stream s;
	struct fx2_who who;
	char note[FX2_NOTE];
	uint64_t rate;

	fx2_identity_read(&who, data, n, &err);
	if (n < 8)
		return 0;
	memcpy(&settings, data, sizeof(settings));
	rate = fx2_settings_rate(&settings);
	if (!rate)
		return 0;
	fx2_stream_init(&s, rate, settings.flags & FX2_16_LINES ? 2 : 1);
	if (data[2])
		fx2_stream_began(&s, fx2_get32(data + 4));
	for (size_t at = 8; at < n;) {
		size_t left = n - at;

		if (s.waiting) {
			size_t take =
				left < sizeof(struct fx2_loss) ? left : sizeof(struct fx2_loss);

			if (fx2_stream_loss(&s, data + at, take, &loss, note, &err))
				return 0;
			if (loss.slack >= loss.samples || strlen(note) >= FX2_NOTE)
				abort();
			at += take;
		} else {
			size_t length = left < 2 ? 0 : fx2_get16(data + at);

			if (fx2_stream_transfer(&s, length, length % FX2_PACKET != 0 || !length) >
			    length)
				abort();
			at += 2;
		}
	}
	return 0;
}
