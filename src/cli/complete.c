/* SPDX-License-Identifier: MIT */
/*
 * Completion: `coeval complete WORD...` prints the candidates for the last word, one per line, with
 * a description after a tab; ":files" and ":dirs" make the shell complete file names. The shell
 * scripts only call that.
 */
#include "help.h"

#include <coeval/ctf.h>
#include <coeval/files.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct completion {
	const struct verb *verb;
	int argc;
	char **argv;      /* words after the verb; the last is to be completed */
	const char *word; /* the last word */
	int operand;      /* its number, if it is one */
	const char *session;
};

static void put(const struct completion *c, const char *text, const char *what)
{
	size_t n = what ? strcspn(what, "\n") : 0;

	if (strncmp(text, c->word, strlen(c->word)) != 0)
		return;
	fputs(text, stdout);
	if (n)
		printf("\t%.*s", (int)n, what);
	putchar('\n');
}

/* ---- names in a session ---- */

static bool is_session(const char *path)
{
	char file[CVL_PATH_MAX];
	struct stat st;

	return cvl_path_join(file, path, "session.json") && !stat(file, &st);
}

/*
 * After the dots of "A..B" the first point stays as typed; a name may be preceded by its clock.
 */
static void put_named(const struct completion *c, const char *clock, const char *name,
		      const char *what)
{
	const char *dots = strstr(c->word, "..");
	int n = dots ? (int)(dots + 2 - c->word) : 0;
	const bool edges = !strcmp(what, "line");
	char text[1200];

	if (!name)
		return;
	snprintf(text, sizeof(text), "%.*s%s", n, c->word, name);
	put(c, text, what);
	snprintf(text, sizeof(text), "%.*s%s.%s", n, c->word, clock, name);
	if (strchr(c->word + n, '.'))
		put(c, text, what);
	for (size_t i = 0; edges && strchr(c->word + n, ':') && i < 2; i++) {
		snprintf(text, sizeof(text), "%.*s%s:%s", n, c->word, name, i ? "fall" : "rise");
		put(c, text, what);
	}
}

static void put_names(struct completion *c, enum option_kind kind)
{
	const bool lines = kind == OPTION_LINE || kind == OPTION_SELECTOR;
	const bool events = kind == OPTION_EVENT || kind == OPTION_SELECTOR;
	struct cvl_session *s;

	if (!c->session || cvl_session_open(&s, c->session, NULL, NULL))
		return;
	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		const struct cvl_clock *clock = cvl_session_clock(s, i);
		struct cvl_trace *trace;

		if (kind == OPTION_CLOCK || kind == OPTION_NODE)
			put(c, clock->name, "clock");
		if (kind == OPTION_NODE && strcmp(clock->node, clock->name) != 0)
			put(c, clock->node, "node");
		if ((!lines && !events) || cvl_trace_open(&trace, clock->trace, NULL, NULL))
			continue;
		for (size_t k = 0; lines && k < cvl_trace_env_number(trace, "lines"); k++)
			put_named(c, clock->name, cvl_trace_env_at(trace, "line", k), "line");
		for (size_t k = 0;
		     kind == OPTION_SELECTOR && k < cvl_trace_env_number(trace, "channels"); k++)
			put_named(c, clock->name, cvl_trace_env_at(trace, "channel", k), "channel");
		for (size_t k = 0; events && k < cvl_trace_events(trace); k++)
			put_named(c, clock->name, cvl_trace_event(trace, k)->name, "event");
		cvl_trace_close(trace);
	}
	cvl_session_close(s);
}

/* ---- options and operands ---- */

static void put_value(struct completion *c, const struct cli_option *o)
{
	const char *w;

	for (size_t i = 0; (w = option_word(o, i)); i++)
		put(c, w, NULL);
	switch (o->kind) {
	case OPTION_FILE: puts(":files"); break;
	case OPTION_DIR: puts(":dirs"); break;
	case OPTION_CLOCK:
	case OPTION_NODE:
	case OPTION_LINE:
	case OPTION_EVENT:
	case OPTION_SELECTOR: put_names(c, o->kind); break;
	default: break;
	}
}

static void put_options(const struct completion *c)
{
	const struct cli_option *o;
	struct option_walk w;
	char text[100];

	for (option_walk(&w, c->verb); (o = option_next(&w));) {
		if (!o->name || o->hidden || o->now)
			continue;
		snprintf(text, sizeof(text), "--%s", o->name);
		put(c, text, o->what);
		if (o->letter && !strcmp(c->word, "-")) {
			snprintf(text, sizeof(text), "-%c", o->letter);
			put(c, text, o->what);
		}
	}
	put(c, "--help", "explain this command");
}

/*
 * Lower-case operands are literal words; for others the shell completes files.
 */
static void put_operand(const struct completion *c)
{
	const char *w = c->verb->operands, *last = NULL;
	int n;

	for (int i = 0; w && i <= c->operand; i++) {
		if (!*w && !strstr(last, "..."))
			return;
		last = *w ? w : last;
		w += strcspn(w, " ");
		w += strspn(w, " ");
	}
	if (!last)
		return;
	n = (int)strcspn(last, " ");
	if (*last < 'a' || *last > 'z') {
		puts(":files");
		return;
	}
	for (const char *end = last + n; last < end; last += strcspn(last, "| ") + 1) {
		char text[100];

		snprintf(text, sizeof(text), "%.*s", (int)strcspn(last, "| "), last);
		put(c, text, NULL);
	}
}

/* The option whose argument the last word is, or NULL. */
static const struct cli_option *option_before(struct completion *c)
{
	const struct cli_option *wants = NULL;
	size_t base;

	for (int i = 0; i < c->argc; i++) {
		char *word = c->argv[i];
		bool last = i + 1 == c->argc;

		if (wants && last)
			return wants;
		if (wants) {
			wants = NULL;
		} else if (word[0] == '-' && word[1] == '-') {
			char *equals = strchr(word, '=');

			wants = option_find(c->verb, word + 2,
					    equals ? (size_t)(equals - word) - 2 : strlen(word) - 2,
					    &base);
			if (wants && last && equals) {
				c->word = equals + 1;
				return wants;
			}
			wants = wants && wants->arg && !wants->optional && !equals ? wants : NULL;
		} else if (word[0] == '-' && word[1]) {
			wants = word[2] ? NULL : option_letter(c->verb, word[1], &base);
			wants = wants && wants->arg ? wants : NULL;
		} else if (!last) {
			if (!c->session && is_session(word))
				c->session = word;
			c->operand++;
		}
	}
	return NULL;
}

/* The session may follow the word. */
static void find_session(struct completion *c, int argc, char **argv)
{
	for (int i = 0; i < argc && !c->session; i++)
		if (argv[i][0] != '-' && is_session(argv[i]))
			c->session = argv[i];
}

static void put_verbs(const struct completion *c, const struct verb *const *list)
{
	for (; *list; list++) {
		const char *part = strchr((*list)->name, ' ');

		put(c, part ? part + 1 : (*list)->name, (*list)->what);
	}
}

static void put_members(const struct completion *c)
{
	struct verb_member m;

	for (size_t i = 0; c->verb->members && c->verb->members->get(i, &m); i++)
		put(c, m.name, m.what);
}

/* argv: all words after "coeval"; the last is to be completed. */
static void complete(int argc, char **argv)
{
	struct completion c = { .argc = argc, .argv = argv, .word = argv[argc - 1] };
	bool help = argc > 1 && !strcmp(argv[0], "help");
	const struct cli_option *o;
	int used;

	if (argc == 1) {
		put_verbs(&c, verbs);
		put(&c, "--version", "print the version");
		put(&c, "--help", "list the commands");
		return;
	}
	c.verb = verb_find(argc - 1 - help, argv + help, &used);
	if (help && !c.verb) {
		put_verbs(&c, verbs);
		return;
	}
	if (!c.verb)
		return;
	if (used + help == argc - 1 && c.verb->parts)
		put_verbs(&c, c.verb->parts);
	if (help) {
		put_members(&c);
		return;
	}
	c.argc -= used;
	c.argv += used;
	o = option_before(&c);
	find_session(&c, c.argc - 1, c.argv);
	if (o)
		put_value(&c, o);
	else if (c.word[0] == '-')
		put_options(&c);
	else
		put_operand(&c);
}

static int run_complete(int argc, char **argv, const struct verb *verb)
{
	(void)verb;
	if (argc > 1)
		complete(argc - 1, argv + 1);
	return cli_flush();
}

const struct verb verb_complete = {
	.name = "complete",
	.what = "print what the last of some words can become, for shells",
	.operands = "[WORD...]",
	.run = run_complete,
};

/* ---- scripts ---- */

static const char bash[] =
	"# bash completion for coeval: `coeval completion bash`\n"
	"_coeval() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} words cur text\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line != *[[:blank:]] ]] || words+=(\"\")\n"
	"\tcur=${words[-1]}\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS=$'\\t' read -r text _; do\n"
	"\t\tcase $text in\n"
	"\t\t:files | :dirs)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\t[ \"$text\" = :dirs ] && text=-d || text=-f\n"
	"\t\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen \"$text\" -- \"${cur#--*=}\")\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\t# bash replaces only what follows the last of its word breaks\n"
	"\t\t\tcase $cur in --*=*) text=${cur%%=*}=$text ;; esac\n"
	"\t\t\tCOMPREPLY+=(\"${text#\"${cur%\"${cur##*[:=]}\"}\"}\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone < <(\"${words[0]}\" complete \"${words[@]:1}\" 2>/dev/null)\n"
	"}\n"
	"complete -F _coeval coeval\n";

static const char zsh[] =
	"#compdef coeval\n"
	"# zsh completion for coeval: `coeval completion zsh`\n"
	"_coeval() {\n"
	"\tlocal line files\n"
	"\tlocal -a found\n"
	"\twhile IFS=$'\\t' read -r line what; do\n"
	"\t\tcase $line in\n"
	"\t\t:files) files=-f ;;\n"
	"\t\t:dirs) files=-/ ;;\n"
	"\t\t*) found+=(\"${line//:/\\\\:}${what:+:$what}\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(${words[1]} complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
	"\t[[ $words[CURRENT] != --*=* ]] || compset -P '*='\n"
	"\t(( ! $#found )) || _describe -t values value found\n"
	"\t[[ -z $files ]] || _path_files $files\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _coeval ]; then _coeval \"$@\"; else compdef _coeval coeval; fi\n";

static const char fish[] =
	"# fish completion for coeval: `coeval completion fish`\n"
	"function __coeval_complete\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l current (commandline -ct)\n"
	"\tset -l prefix (string match -r -- '^--[^=]*=' $current)\n"
	"\tfor line in ($words[1] complete $words[2..-1] 2>/dev/null)\n"
	"\t\tswitch $line\n"
	"\t\t\tcase :files\n"
	"\t\t\t\t__fish_complete_path (string replace -r -- '^--[^=]*=' '' $current)\n"
	"\t\t\tcase :dirs\n"
	"\t\t\t\t__fish_complete_directories (string replace -r -- '^--[^=]*=' '' $current)\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\techo $prefix$line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c coeval -f -a '(__coeval_complete)'\n";

static int run_completion(int argc, char **argv, const struct verb *verb)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
	struct operands operands;
	int rc = options_read(verb, NULL, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (!strcmp(operands.v[0], scripts[i].shell)) {
			fputs(scripts[i].script, stdout);
			return cli_flush();
		}
	return cli_usage(verb, "unknown shell '%s'", operands.v[0]);
}

const struct verb verb_completion = {
	.name = "completion",
	.group = VERB_HELP,
	.what = "print a completion script for a shell",
	.operands = "bash|zsh|fish",
	.examples = "  source <(coeval completion bash)\n",
	.run = run_completion,
};
