/* SPDX-License-Identifier: MIT */
#include "cc1101_config.h"

#include "../wire/beacon.h"

#define LENGTH (1 + BEACON_BYTES)

/*
 * PATABLE: SWRS061I, section 24, table 39, at 25 degrees: +10 dBm at 433 MHz is C0, +10 dBm at 868
 * MHz is C2, -10 dBm at 915 MHz is 27. An antenna with gain makes more of it.
 */
const struct cc1101_profile cc1101_profiles[] = {
	{
		.name = "grace",
		.what = "433.050 MHz, 2-FSK, 6.0 kBd: Grace's own; hears its senders and ours",
		.legal =
			"Not in the band: half of the channel lies below 433.050 MHz, where the 433.050-434.790 MHz "
			"of ERC/REC 70-03 annex 1 (band f, 10 mW e.r.p., 10 %) begin; ask your authority, or use "
			"eu433",
		/*
		 * Grace does not send the address byte that its paper has: ADR_CHK must be off to
		 * hear it.
		 */
		.wanted = { 433050000, 58036, 14282, 6000, CC1101_2FSK, BEACON_SYNC_WORD,
			    BEACON_ADDRESS, 0, LENGTH, 0x60 },
		.duty_ppm = 100000,
		.band_low_hz = 433050000,
		.band_high_hz = 434790000,
	},
	{
		.name = "eu433",
		.what = "433.920 MHz, 2-FSK, 6.0 kBd: as Grace's, in the middle of the band",
		.legal =
			"ERC/REC 70-03 annex 1 band f, EN 300 220-2: 433.050-434.790 MHz, 10 mW e.r.p., 10 % duty "
			"cycle (ITU region 1)",
		.wanted = { 433920000, 58036, 14282, 6000, CC1101_2FSK, BEACON_SYNC_WORD,
			    BEACON_ADDRESS, 0, LENGTH, 0xc0 },
		.duty_ppm = 100000,
		.band_low_hz = 433050000,
		.band_high_hz = 434790000,
	},
	{
		.name = "eu868",
		.what = "868.300 MHz, GFSK, 38.4 kBd: one of our beacons a second, not more",
		.legal =
			"ERC/REC 70-03 annex 1 band g1, EN 300 220-2: 868.000-868.600 MHz, 25 mW e.r.p., 1 % duty "
			"cycle (ITU region 1)",
		.wanted = { 868300000, 101563, 20630, 38400, CC1101_GFSK, BEACON_SYNC_WORD,
			    BEACON_ADDRESS, 1, LENGTH, 0xc2 },
		.duty_ppm = 10000,
		.band_low_hz = 868000000,
		.band_high_hz = 868600000,
	},
	{
		.name = "us915",
		.what = "915.000 MHz, GFSK, 38.4 kBd, -10 dBm",
		.legal =
			"47 CFR 15.249: 902-928 MHz, 50 mV/m at 3 m, which is 0.75 mW (-1.2 dBm) e.i.r.p. (United "
			"States)",
		.wanted = { 915000000, 101563, 20630, 38400, CC1101_GFSK, BEACON_SYNC_WORD,
			    BEACON_ADDRESS, 1, LENGTH, 0x27 },
		.duty_ppm = 1000000,
		.band_low_hz = 902000000,
		.band_high_hz = 928000000,
	},
	{
		.name = "glossy",
		.what = "868.300 MHz, GFSK, 250 kBd: floods, as TraceLab's observers send them",
		.legal =
			"ERC/REC 70-03 annex 1 band g1, EN 300 220-2: 868.000-868.600 MHz, 25 mW e.r.p., 1 % duty "
			"cycle (ITU region 1)",
		.wanted = { 868300000, 650000, 126953, 250000, CC1101_GFSK, BEACON_SYNC_WORD,
			    BEACON_ADDRESS, 1, LENGTH, 0xc2 },
		.duty_ppm = 10000,
		.band_low_hz = 868000000,
		.band_high_hz = 868600000,
	},
	{ .name = 0 },
};

const struct cc1101_profile *cc1101_profile_find(const char *name)
{
	for (const struct cc1101_profile *p = cc1101_profiles; p->name; p++) {
		const char *a = p->name, *b = name;

		while (*a && *a == *b) {
			a++;
			b++;
		}
		if (*a == *b)
			return p;
	}
	return 0;
}
