/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stddef.h>

/* Whether @word, which a blank, '=' or the end ends, is @name. */
static bool is(const char *word, const char *name)
{
	while (*name && *word == *name)
		word++, name++;
	return !*name && (*word == '\0' || *word == ' ' || *word == '=');
}

/*
 * A number of base @base; *@end: the text after it. NULL if there is none, or it is too large.
 */
static const char *number(const char *s, unsigned base, uint64_t *out)
{
	const char *begin = s;

	for (*out = 0;; s++) {
		unsigned char c = (unsigned char)*s;
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (unsigned)(c | 32) - 'a' + 10;
		else
			return s > begin ? s : NULL;
		if (*out > (UINT64_MAX - digit) / base)
			return NULL;
		*out = *out * base + digit;
	}
}

static bool ends(const char *s)
{
	return s && (*s == '\0' || *s == ' ');
}

static bool whole(const char *s, unsigned base, uint64_t most, uint64_t *out)
{
	return ends(number(s, base, out)) && *out <= most;
}

/* Which of @names ("a|b|c") it is; -1: none of them. */
static int choice(const char *s, const char *names)
{
	for (int i = 0;; i++) {
		const char *p = s;

		while (*names && *names != '|' && *p == *names)
			p++, names++;
		if ((!*names || *names == '|') && ends(p))
			return i;
		while (*names && *names != '|')
			names++;
		if (!*names++)
			return -1;
	}
}

static bool read_length(const char *s, uint64_t *us)
{
	const char *unit = number(s, 10, us);
	uint64_t scale = 1;

	if (!unit)
		return false;
	if (is(unit, "s"))
		scale = 1000000;
	else if (is(unit, "ms"))
		scale = 1000;
	else if (!is(unit, "us") && !(ends(unit) && !*us))
		return false;
	if (*us > UINT64_C(100) * 86400 * 1000000 / scale) /* still fits as a number of ticks */
		return false;
	*us *= scale;
	return true;
}

static bool read_pci(struct ett_config *c, const char *s)
{
	uint64_t vendor, device;
	const char *p = number(s, 16, &vendor);

	if (!p || *p != ':' || !whole(p + 1, 16, 0xffff, &device) || !vendor || vendor > 0xffff)
		return false;
	c->pci_vendor = (uint16_t)vendor;
	c->pci_device = (uint16_t)device;
	c->source = ETT_SOURCE_MMIO;
	return true;
}

static bool read_switch(const char *s, bool *out)
{
	int on = choice(s, "off|on");

	*out = on == 1;
	return on >= 0;
}

static bool read_word(struct ett_config *c, const char *key, const char *value)
{
	uint64_t n = 0;
	int k;

	if (is(key, "source")) {
		k = choice(value, "lpt|serial|mmio|port");
		c->source = (enum ett_source)(k < 0 ? 0 : k);
		return k >= 0;
	}
	if (is(key, "base"))
		return whole(value, 16, UINT64_MAX, &c->base);
	if (is(key, "pci"))
		return read_pci(c, value);
	if (is(key, "bar")) {
		if (!whole(value, 10, 5, &n))
			return false;
		c->bar = (uint8_t)n;
		return true;
	}
	if (is(key, "shift")) {
		if (!whole(value, 10, 24, &n))
			return false;
		c->shift = (uint8_t)n;
		return true;
	}
	if (is(key, "mask")) {
		if (!whole(value, 16, 0xff, &n) || !n)
			return false;
		c->mask = (uint8_t)n;
		return true;
	}
	if (is(key, "probes")) {
		if (!whole(value, 10, 8, &n) || (n != 1 && n != 2 && n != 8))
			return false;
		c->probes = (uint8_t)n;
		c->bits = (uint8_t)(8 / n);
		return true;
	}
	if (is(key, "length"))
		return read_length(value, &c->length_us);
	if (is(key, "zero"))
		return read_switch(value, &c->zero);
	if (is(key, "steps"))
		return read_switch(value, &c->steps);
	if (is(key, "ecr"))
		return read_switch(value, &c->ecr);
	if (is(key, "start")) {
		k = choice(value, "key|now");
		c->start_now = k == 1;
		return k >= 0;
	}
	if (is(key, "keys")) {
		k = choice(value, "other|loop|off");
		c->keys = (enum ett_keys)(k < 0 ? 0 : k);
		return k >= 0;
	}
	if (is(key, "save")) {
		k = choice(value, "off|disk|serial");
		c->save = (enum ett_save)(k < 0 ? 0 : k);
		return k >= 0;
	}
	if (is(key, "timer")) {
		k = choice(value, "pit|hpet");
		c->timer = (enum ett_timer)(k < 0 ? 0 : k);
		return k >= 0;
	}
	if (is(key, "disk")) {
		k = choice(value, "0|1|2|3");
		c->disk = k;
		return k >= 0 || choice(value, "off") == 0;
	}
	if (is(key, "selftest"))
		return whole(value, 10, UINT32_MAX, &c->edges);
	if (is(key, "dwell"))
		return read_length(value, &c->dwell_us);
	if (is(key, "record"))
		return whole(value, 10, UINT64_MAX, &c->records);
	return false;
}

/* Whether @word is the kernel's name, which some boot loaders put first. */
static bool is_path(const char *text, const char *word)
{
	while (*text == ' ')
		text++;
	if (text != word)
		return false;
	while (*word && *word != ' ' && *word != '/' && *word != '.')
		word++;
	return *word == '/' || *word == '.';
}

const char *ett_config_read(struct ett_config *c, const char *text)
{
	const char *wrong = NULL, *const begin = text;

	*c = (struct ett_config){ .probes = 2, .bits = 4, .zero = true, .ecr = true };
	while (*text) {
		const char *value = text;

		while (*text == ' ')
			text++;
		if (!*text)
			break;
		for (value = text; *value && *value != ' ' && *value != '=';)
			value++;
		if (*value == '=' ? !read_word(c, text, value + 1) : !is_path(begin, text))
			wrong = wrong ? wrong : text;
		while (*text && *text != ' ')
			text++;
	}
	if (!c->mask)
		c->mask = c->source == ETT_SOURCE_SERIAL ? 0xf0 : 0xff;
	if (!c->base && c->source <= ETT_SOURCE_SERIAL)
		c->base = c->source == ETT_SOURCE_SERIAL ? 0x3f8 : 0x378;
	return wrong;
}
