/* SPDX-License-Identifier: MIT */
#include "command.h"

/* Where a number ends, or NULL if there is none or it does not fit. */
static const char *number(const char *s, uint32_t *value)
{
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return 0;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX)
			return 0;
	}
	*value = (uint32_t)v;
	return s;
}

/* Exactly @n digits. */
static const char *digits(const char *s, unsigned n, uint32_t *value)
{
	*value = 0;
	for (; n; n--, s++) {
		if (*s < '0' || *s > '9')
			return 0;
		*value = *value * 10 + (uint32_t)(*s - '0');
	}
	return s;
}

/* What follows @word and blanks in @s, or NULL. */
static const char *after(const char *s, const char *word)
{
	for (; *word; word++, s++)
		if (*s != *word)
			return 0;
	if (*s && *s != ' ')
		return 0;
	while (*s == ' ')
		s++;
	return s;
}

static int same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

/* ---- sentences ---- */

static unsigned hex(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return 16;
}

/* NMEA 0183: the checksum is the exclusive or of all between $ and *. */
static int checksum_holds(const char *s)
{
	unsigned sum = 0, high, low;

	for (s++; *s && *s != '*'; s++)
		sum ^= (unsigned char)*s;
	if (*s != '*')
		return 0;
	high = hex(s[1]);
	if (high > 15)
		return 0;
	low = hex(s[2]);
	return low <= 15 && !s[3] && sum == (high << 4 | low);
}

/* The @n-th field, 0 the first; fields end at commas. NULL if there are fewer. */
static const char *field(const char *s, unsigned n)
{
	for (; n; s++) {
		if (!*s || *s == '*')
			return 0;
		n -= *s == ',';
	}
	return s;
}

static int leap(uint32_t y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Days from 1970 to the date, which must exist and lie in 1970 to 2099. */
static int days_since_1970(uint32_t y, uint32_t m, uint32_t d, uint32_t *days)
{
	static const uint8_t length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	uint32_t n = 0;

	if (y < 1970 || y > 2099 || m < 1 || m > 12 || d < 1 ||
	    d > length[m - 1] + (uint32_t)(m == 2 && leap(y)))
		return 0;
	for (uint32_t i = 1970; i < y; i++)
		n += leap(i) ? 366 : 365;
	for (uint32_t i = 1; i < m; i++)
		n += length[i - 1] + (uint32_t)(i == 2 && leap(y));
	*days = n + d - 1;
	return 1;
}

/* hhmmss, with zeros only behind the point. A 60th second is refused: 1970's seconds have none. */
static int time_of_day(const char *s, uint32_t *second)
{
	uint32_t h, m, sec;

	if (!s || !(s = digits(s, 2, &h)) || !(s = digits(s, 2, &m)) || !(s = digits(s, 2, &sec)) ||
	    h > 23 || m > 59 || sec > 59)
		return 0;
	if (*s == '.')
		for (s++; *s == '0'; s++)
			;
	*second = h * 3600 + m * 60 + sec;
	return *s == ',';
}

static int zda(const char *s, uint32_t *y, uint32_t *m, uint32_t *d)
{
	const char *day = field(s, 2), *month = field(s, 3), *year = field(s, 4);

	return day && month && year && (day = digits(day, 2, d)) && *day == ',' &&
	       (month = digits(month, 2, m)) && *month == ',' && (year = digits(year, 4, y));
}

static int rmc(const char *s, uint32_t *y, uint32_t *m, uint32_t *d)
{
	const char *valid = field(s, 2), *date = field(s, 9);

	if (!valid || valid[0] != 'A' || valid[1] != ',' || !date || !(date = digits(date, 2, d)) ||
	    !(date = digits(date, 2, m)) || !digits(date, 2, y))
		return 0;
	*y += 2000;
	return 1;
}

/* "$GPZDA,hhmmss.ss,dd,mm,yyyy,..." and "$GPRMC,hhmmss.ss,A,...,ddmmyy,...": NMEA 0183. */
static void read_sentence(const char *s, struct command *c)
{
	uint32_t y, m, d, days, second;
	const char *name = s + 3;
	int is_zda, is_rmc;

	c->kind = COMMAND_WRONG;
	if (!checksum_holds(s))
		return;
	c->kind = COMMAND_NONE;
	if (!s[1] || !s[2])
		return;
	is_zda = name[0] == 'Z' && name[1] == 'D' && name[2] == 'A' && name[3] == ',';
	is_rmc = name[0] == 'R' && name[1] == 'M' && name[2] == 'C' && name[3] == ',';
	if ((!is_zda && !is_rmc) || !time_of_day(field(s, 1), &second) ||
	    !(is_zda ? zda(s, &y, &m, &d) : rmc(s, &y, &m, &d)) || !days_since_1970(y, m, d, &days))
		return;
	c->kind = COMMAND_GPS_UTC;
	c->value = days * 86400u + second;
}

/* ---- commands ---- */

static void read_interval(const char *s, struct command *c)
{
	s = number(s, &c->value);
	if (!s)
		return;
	if (same(s, "s") && c->value <= UINT32_MAX / 1000)
		c->value *= 1000;
	else if (!same(s, "ms"))
		return;
	c->kind = COMMAND_INTERVAL;
}

static void read_slot(const char *s, struct command *c)
{
	s = number(s, &c->value);
	if (s && *s == '/' && (s = number(s + 1, &c->of)) && !*s)
		c->kind = COMMAND_SLOT;
}

static void read_number(const char *s, enum command_kind kind, struct command *c)
{
	s = number(s, &c->value);
	if (s && !*s)
		c->kind = kind;
}

void command_read(const char *line, struct command *c)
{
	const char *s;

	*c = (struct command){ .kind = COMMAND_WRONG };
	if (!*line)
		c->kind = COMMAND_NONE;
	else if (*line == '$')
		read_sentence(line, c);
	else if ((s = after(line, "interval")))
		read_interval(s, c);
	else if ((s = after(line, "id")))
		read_number(s, COMMAND_ID, c);
	else if ((s = after(line, "slot")))
		read_slot(s, c);
	else if ((s = after(line, "utc")))
		read_number(s, COMMAND_UTC, c);
	else if ((s = after(line, "payload")) && (same(s, "grace") || same(s, "coeval")))
		*c = (struct command){ COMMAND_PAYLOAD, *s == 'c', 0 };
	else if ((s = after(line, "status")) && !*s)
		c->kind = COMMAND_STATUS;
}

int command_feed(struct command_line *l, uint8_t byte, struct command *c)
{
	if (byte != '\r' && byte != '\n') {
		if (l->n < COMMAND_LINE)
			l->text[l->n++] = (char)byte;
		else
			l->too_long = 1;
		return 0;
	}
	while (l->n && l->text[l->n - 1] == ' ')
		l->n--;
	l->text[l->n] = '\0';
	command_read(l->text, c);
	/* a NUL inside would hide the rest of the line */
	for (unsigned i = 0; i < l->n; i++)
		if (!l->text[i])
			c->kind = COMMAND_WRONG;
	if (l->too_long)
		c->kind = COMMAND_WRONG;
	l->n = 0;
	l->too_long = 0;
	return 1;
}
