/* SPDX-License-Identifier: MIT */
/*
 * The library for Python, by the limited API of 3.11. What Python sees is in coeval/__init__.py; here
 * are tables, as Arrow streams and as columns with the buffer protocol, and calls that need no table.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include <coeval/arrow.h>
#include <coeval/calls.h>
#include <coeval/check.h>
#include <coeval/follow.h>
#include <coeval/power.h>
#include <coeval/sim.h>
#include <coeval/sync.h>
#include <coeval/table.h>
#include <coeval/tasks.h>

static PyObject *error_type, *column_type; /* of this module, which is loaded once */

#define LIST_MAX 16

/* ---- errors, warnings, interrupts ---- */

/* Raise @err as coeval.Error(text), with the attributes code and offset. */
static PyObject *raise_error(const struct cvl_error *err)
{
	PyObject *text, *e = NULL, *code = NULL, *offset = NULL;

	if (PyErr_Occurred()) /* the signal that cancelled it */
		return NULL;
	text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
	if (text)
		e = PyObject_CallFunctionObjArgs(error_type, text, NULL);
	if (e)
		code = PyUnicode_FromString(cvl_code_name(err->code));
	if (code)
		offset = err->offset == CVL_NO_OFFSET ? Py_NewRef(Py_None) :
							PyLong_FromUnsignedLongLong(err->offset);
	if (offset && !PyObject_SetAttrString(e, "code", code) &&
	    !PyObject_SetAttrString(e, "offset", offset))
		PyErr_SetObject(error_type, e);
	Py_XDECREF(text);
	Py_XDECREF(e);
	Py_XDECREF(code);
	Py_XDECREF(offset);
	return NULL;
}

/* What the library reports while the interpreter is released, told as warnings afterwards. */
struct notes {
	char *text[LIST_MAX];
	size_t n, more;
	unsigned calls; /* of the progress function */
};

static void note(void *ctx, const struct cvl_error *problem)
{
	struct notes *n = ctx;

	if (n->n < LIST_MAX && (n->text[n->n] = strdup(problem->text)))
		n->n++;
	else
		n->more++;
}

/* Look whether the user wants to interrupt, now and then. */
static bool may_go_on(void *ctx, uint64_t done, uint64_t total)
{
	struct notes *n = ctx;
	PyGILState_STATE gil;
	bool go_on;

	(void)done, (void)total;
	if (++n->calls % 256)
		return true;
	gil = PyGILState_Ensure();
	go_on = !PyErr_CheckSignals();
	PyGILState_Release(gil);
	return go_on;
}

/* Returns 0, or -1 if warnings are errors. */
static int warn(struct notes *n)
{
	int rc = 0;

	for (size_t i = 0; i < n->n; i++) {
		if (!rc && !PyErr_Occurred())
			rc = PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s", n->text[i]);
		free(n->text[i]);
	}
	if (n->more && !rc && !PyErr_Occurred())
		rc = PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%zu more problems", n->more);
	*n = (struct notes){ 0 };
	return rc;
}

/* ---- what to open ---- */

/* A request for a table, in memory of its own, and what it is made into. */
struct request {
	char *path, *name, *node, *lines, *rules, *program, *text[6];
	char *list[LIST_MAX]; /* rules of calls, pins of tasks */
	size_t n_list;
	double unit, volts;
	bool has_from, has_until, nominal;
	long long from, until;
};

/* All that a table is opened on. */
struct opened {
	struct cvl_session *session;
	struct cvl_check_rules *check;
	struct cvl_calls_config *config;
	struct cvl_calls_opts calls;
	struct cvl_tasks_opts tasks;
	struct cvl_power_opts power;
	struct cvl_selector select[LIST_MAX];
	size_t n_select;
};

enum { TEXT_WATTS, TEXT_AMPERES, TEXT_VOLTS, TEXT_LINE, TEXT_BETWEEN };

static void close_opened(void *ctx)
{
	struct opened *o = ctx;

	if (!o)
		return;
	cvl_session_close(o->session);
	cvl_check_rules_free(o->check);
	cvl_calls_config_free(o->config);
	for (size_t i = 0; i < o->n_select; i++)
		cvl_selector_free(&o->select[i]);
	free((char *)o->power.watts);
	free((char *)o->power.amperes);
	free((char *)o->power.volts);
	free((char *)o->tasks.power);
	free(o);
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int select_one(struct opened *o, const char *text, struct cvl_error *err)
{
	int rc;

	if (o->n_select == LIST_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d selectors", LIST_MAX);
	rc = cvl_selector_parse(&o->select[o->n_select], text, strlen(text), err);
	o->n_select += !rc;
	return rc;
}

/* What the analysis behind the table needs. */
static int prepare(struct opened *o, const struct request *r, struct cvl_table_opts *opts,
		   struct cvl_error *err)
{
	int rc = 0;

	if (!strcmp(r->name, "violations") && r->rules) {
		rc = cvl_check_rules_load(&o->check, r->rules, err);
		opts->check = o->check;
	} else if (!strcmp(r->name, "calls") || !strcmp(r->name, "waits")) {
		o->config = cvl_calls_config_new();
		rc = o->config ? 0 : cvl_no_memory(err);
		for (size_t i = 0; i < r->n_list && !rc; i++)
			rc = cvl_calls_config_rules(o->config, r->list[i], err);
		if (!rc && r->program)
			rc = cvl_calls_config_program(o->config, r->program, 0, err);
		o->calls.config = o->config;
		opts->calls = &o->calls;
	} else if (!strcmp(r->name, "tasks")) {
		for (size_t i = 0; i < r->n_list && !rc; i++)
			rc = select_one(o, r->list[i], err);
		o->tasks = (struct cvl_tasks_opts){ .pin = o->select,
						    .n_pins = o->n_select,
						    .power = copy_of(r->text[TEXT_WATTS]),
						    .watts = r->unit };
		opts->tasks = &o->tasks;
	} else if (!strcmp(r->name, "power") && (r->text[TEXT_WATTS] || r->text[TEXT_AMPERES])) {
		o->power = (struct cvl_power_opts){ .watts = copy_of(r->text[TEXT_WATTS]),
						    .amperes = copy_of(r->text[TEXT_AMPERES]),
						    .volts = copy_of(r->text[TEXT_VOLTS]),
						    .fixed_volts = r->volts,
						    .unit = r->unit };
		if (r->text[TEXT_LINE]) {
			rc = select_one(o, r->text[TEXT_LINE], err);
			o->power.line = o->select;
		} else if (r->text[TEXT_BETWEEN]) {
			rc = cvl_selector_pair_parse(o->select, r->text[TEXT_BETWEEN],
						     strlen(r->text[TEXT_BETWEEN]), err);
			o->n_select = rc ? 0 : 2;
			o->power.between = o->select;
		}
		opts->power = &o->power;
	}
	return rc;
}

/* Open what @r asks for; @out is closed by close_opened() after the table. */
static int open_request(const struct request *r, size_t rows, struct notes *notes,
			const struct cvl_report *report, struct opened **out,
			struct cvl_table **table, struct cvl_error *err)
{
	struct opened *o = calloc(1, sizeof(*o));
	struct cvl_table_opts opts = { .timeline = { .has_from = r->has_from,
						     .has_until = r->has_until,
						     .from = { r->from },
						     .until = { r->until },
						     .node = r->node,
						     .nominal = r->nominal,
						     .report = report },
				       .lines = r->lines,
				       .rows = rows };
	int rc;

	if (!o)
		return cvl_no_memory(err);
	if (notes)
		opts.timeline.progress = (struct cvl_progress){ may_go_on, notes };
	rc = cvl_session_open(&o->session, r->path, report, err);
	rc = rc ? rc : prepare(o, r, &opts, err);
	rc = rc ? rc : cvl_table_open(table, o->session, r->name, &opts, err);
	if (rc)
		close_opened(o);
	else
		*out = o;
	return rc;
}

/* ---- columns ---- */

/* Cells of a column, which numpy and memoryview read in place. */
struct column {
	PyObject_HEAD
	void *values;
	Py_ssize_t n, size;
	Py_ssize_t shape[1];
	char format[2];
};

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct column *c = (struct column *)self;

	if (flags & PyBUF_WRITABLE) {
		PyErr_SetString(PyExc_BufferError, "columns are read-only");
		return -1;
	}
	*view = (Py_buffer){ .buf = c->values,
			     .obj = Py_NewRef(self),
			     .len = c->n * c->size,
			     .itemsize = c->size,
			     .readonly = 1,
			     .ndim = 1,
			     .format = flags & PyBUF_FORMAT ? c->format : NULL,
			     .shape = flags & PyBUF_ND ? c->shape : NULL };
	if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
		view->strides = &c->size;
	return 0;
}

static void column_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	free(((struct column *)self)->values);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static Py_ssize_t column_length(PyObject *self)
{
	return ((struct column *)self)->n;
}

static PyType_Slot column_slots[] = {
	{ Py_bf_getbuffer, column_buffer },
	{ Py_tp_dealloc, column_free },
	{ Py_sq_length, column_length },
	{ Py_tp_doc, "Cells of a column, by the buffer protocol." },
	{ 0, NULL },
};

static PyType_Spec column_spec = {
	"coeval._coeval.Column",
	sizeof(struct column),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	column_slots,
};

/* Takes @values, also if it fails. */
static PyObject *new_column(void *values, size_t n, size_t size, char format)
{
	PyTypeObject *type = (PyTypeObject *)column_type;
	struct column *c =
		(struct column *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);

	if (!c) {
		free(values);
		return NULL;
	}
	c->values = values;
	c->n = c->shape[0] = (Py_ssize_t)n;
	c->size = (Py_ssize_t)size;
	c->format[0] = format;
	return (PyObject *)c;
}

static PyObject *list_of_names(const struct cvl_names *names)
{
	const size_t n = cvl_names_count(names);
	PyObject *list = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; list && i < n; i++) {
		PyObject *name = PyUnicode_FromString(cvl_names_at(names, i));

		if (!name || PyList_SetItem(list, (Py_ssize_t)i, name))
			Py_CLEAR(list);
	}
	return list;
}

/* str, or bytes, or None */
static PyObject *list_of_texts(const struct cvl_cells *c, size_t n, bool text)
{
	PyObject *(*make)(const char *, Py_ssize_t) = text ? PyUnicode_FromStringAndSize :
							     PyBytes_FromStringAndSize;
	const int32_t *at = c->values;
	PyObject *list = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; list && i < n; i++) {
		PyObject *item = cvl_cells_null(c, i) ?
					 Py_NewRef(Py_None) :
					 make(c->bytes ? c->bytes + at[i] : "",
					      at[i + 1] - at[i]);

		if (!item || PyList_SetItem(list, (Py_ssize_t)i, item))
			Py_CLEAR(list);
	}
	return list;
}

/* A bool each, of cells that are there. */
static PyObject *valid_of(const struct cvl_cells *c, size_t n)
{
	uint8_t *bytes;

	if (!c->nulls)
		return Py_NewRef(Py_None);
	bytes = malloc(n + 1);
	if (!bytes)
		return PyErr_NoMemory();
	for (size_t i = 0; i < n; i++)
		bytes[i] = !cvl_cells_null(c, i);
	return new_column(bytes, n, 1, '?');
}

static void *take_values(struct cvl_cells *c)
{
	void *values = c->values;

	c->values = NULL;
	return values;
}

static const struct {
	const char *name;
	size_t size;
	char format;
} kinds[] = {
	[CVL_COLUMN_INT] = { "int", 8, 'q' },      [CVL_COLUMN_UINT] = { "uint", 8, 'Q' },
	[CVL_COLUMN_DOUBLE] = { "float", 8, 'd' }, [CVL_COLUMN_BOOL] = { "bool", 1, '?' },
	[CVL_COLUMN_NAME] = { "name", 4, 'i' },    [CVL_COLUMN_TEXT] = { "text", 0, 0 },
	[CVL_COLUMN_BYTES] = { "bytes", 0, 0 },
};

/* (kind, nullable, cells, valid or None, names or None) */
static PyObject *column_object(const struct cvl_column *column, struct cvl_cells *c, size_t n)
{
	const enum cvl_column_type type = column->type;
	PyObject *valid = valid_of(c, n), *cells, *names;

	if (kinds[type].size)
		cells = new_column(take_values(c), n, kinds[type].size, kinds[type].format);
	else
		cells = list_of_texts(c, n, type == CVL_COLUMN_TEXT);
	names = type == CVL_COLUMN_NAME ? list_of_names(c->names) : Py_NewRef(Py_None);
	if (!valid || !cells || !names) {
		Py_XDECREF(valid);
		Py_XDECREF(cells);
		Py_XDECREF(names);
		return NULL;
	}
	return Py_BuildValue("(sONNN)", kinds[type].name, column->nullable ? Py_True : Py_False,
			     cells, valid, names);
}

/* {name: column}; frees @rows */
static PyObject *rows_object(const struct cvl_table *t, struct cvl_rows *rows)
{
	size_t n;
	const struct cvl_column *c = cvl_table_columns(t, &n);
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < n; i++) {
		PyObject *column = column_object(&c[i], &rows->column[i], rows->n);

		if (!column || PyDict_SetItemString(dict, c[i].name, column))
			Py_CLEAR(dict);
		Py_XDECREF(column);
	}
	cvl_rows_free(rows);
	return dict;
}

static PyObject *facts_object(const struct cvl_table *t)
{
	PyObject *dict = PyDict_New();
	const char *key, *value;

	for (size_t i = 0; dict && (key = cvl_table_fact(t, i, &value)); i++) {
		PyObject *text = PyUnicode_DecodeUTF8(value, (Py_ssize_t)strlen(value), "replace");

		if (!text || PyDict_SetItemString(dict, key, text))
			Py_CLEAR(dict);
		Py_XDECREF(text);
	}
	return dict;
}

/* ---- tables ---- */

struct table {
	PyObject_HEAD
	struct request request;
};

static void free_request(struct request *r)
{
	char **all[] = { &r->path, &r->name, &r->node, &r->lines, &r->rules, &r->program };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		free(*all[i]);
	for (size_t i = 0; i < sizeof(r->text) / sizeof(*r->text); i++)
		free(r->text[i]);
	for (size_t i = 0; i < r->n_list; i++)
		free(r->list[i]);
	*r = (struct request){ 0 };
}

/* Texts of the sequence @from, at most LIST_MAX. */
static bool take_list(PyObject *from, char **list, size_t *n)
{
	const Py_ssize_t size = from && from != Py_None ? PySequence_Size(from) : 0;

	if (size < 0)
		return false;
	if (size > LIST_MAX) {
		PyErr_Format(PyExc_ValueError, "at most %d of them", LIST_MAX);
		return false;
	}
	for (Py_ssize_t i = 0; i < size; i++) {
		PyObject *item = PySequence_GetItem(from, i);
		const char *text = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;

		if (text && (list[*n] = strdup(text)))
			++*n;
		Py_XDECREF(item);
		if (!text)
			return false;
	}
	return true;
}

static bool take_time(PyObject *from, bool *has, long long *ns)
{
	*has = from && from != Py_None;
	if (!*has)
		return true;
	*ns = PyLong_AsLongLong(from);
	return !PyErr_Occurred();
}

static PyObject *table_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	static char *keys[] = { "path",    "name",  "node",  "lines", "from_ns", "until_ns",
				"nominal", "rules", "list",  "program", "watts", "amperes",
				"volts",   "line",  "between", "unit", "fixed_volts", NULL };
	const char *path, *name, *node = NULL, *lines = NULL, *rules = NULL, *program = NULL;
	const char *text[5] = { NULL };
	PyObject *from = NULL, *until = NULL, *list = NULL;
	double unit = 1, volts = 0;
	struct request *r;
	struct table *t;
	int nominal = 0;

	if (!PyArg_ParseTupleAndKeywords(args, words, "ss|zzOOpzOzzzzzzdd", keys, &path, &name,
					 &node, &lines, &from, &until, &nominal, &rules, &list,
					 &program, &text[0], &text[1], &text[2], &text[3], &text[4],
					 &unit, &volts))
		return NULL;
	t = (struct table *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (!t)
		return NULL;
	r = &t->request;
	*r = (struct request){ .path = copy_of(path),
			       .name = copy_of(name),
			       .node = copy_of(node),
			       .lines = copy_of(lines),
			       .rules = copy_of(rules),
			       .program = copy_of(program),
			       .unit = unit,
			       .volts = volts,
			       .nominal = nominal };
	for (size_t i = 0; i < 5; i++)
		r->text[i] = copy_of(text[i]);
	if (!take_list(list, r->list, &r->n_list) || !take_time(from, &r->has_from, &r->from) ||
	    !take_time(until, &r->has_until, &r->until)) {
		Py_DECREF(t);
		return NULL;
	}
	return (PyObject *)t;
}

static void table_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	free_request(&((struct table *)self)->request);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

static void release_stream(PyObject *capsule)
{
	struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (s && s->release)
		s->release(s);
	free(s);
}

static PyObject *table_stream(PyObject *self, PyObject *args, PyObject *words)
{
	static char *keys[] = { "requested_schema", NULL };
	const struct request *r = &((struct table *)self)->request;
	struct ArrowArrayStream *s;
	struct cvl_table *t = NULL;
	struct opened *o = NULL;
	PyObject *requested = NULL, *capsule;
	struct cvl_error err;
	int rc;

	if (!PyArg_ParseTupleAndKeywords(args, words, "|O", keys, &requested))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS
	/* nothing of Python may be called from the stream, which other threads may read */
	rc = open_request(r, 0, NULL, NULL, &o, &t, &err);
	if (!rc)
		rc = cvl_arrow_stream(s, t, close_opened, o, &err);
	Py_END_ALLOW_THREADS
	if (rc) {
		if (t) {
			cvl_table_close(t);
			close_opened(o);
		}
		free(s);
		return raise_error(&err);
	}
	capsule = PyCapsule_New(s, "arrow_array_stream", release_stream);
	if (!capsule) {
		s->release(s);
		free(s);
	}
	return capsule;
}

static void release_schema(PyObject *capsule)
{
	struct ArrowSchema *s = PyCapsule_GetPointer(capsule, "arrow_schema");

	if (s && s->release)
		s->release(s);
	free(s);
}

static PyObject *table_schema(PyObject *self, PyObject *nothing)
{
	struct ArrowSchema *s = calloc(1, sizeof(*s));
	struct cvl_table *t = NULL;
	struct opened *o = NULL;
	struct cvl_error err;
	PyObject *capsule;
	int rc;

	(void)nothing;
	if (!s)
		return PyErr_NoMemory();
	rc = open_request(&((struct table *)self)->request, 0, NULL, NULL, &o, &t, &err);
	if (!rc && !cvl_arrow_schema(s, t))
		rc = cvl_no_memory(&err);
	cvl_table_close(t);
	close_opened(o);
	if (rc) {
		free(s);
		return raise_error(&err);
	}
	capsule = PyCapsule_New(s, "arrow_schema", release_schema);
	if (!capsule) {
		s->release(s);
		free(s);
	}
	return capsule;
}

/* All rows: {name: column}, facts, gaps met, rows that came late. */
static PyObject *table_read(PyObject *self, PyObject *nothing)
{
	struct notes notes = { .n = 0 };
	const struct cvl_report report = { note, &notes };
	struct cvl_rows *rows = NULL;
	struct cvl_table *t = NULL;
	struct opened *o = NULL;
	struct cvl_error err;
	PyObject *result = NULL;
	int rc;

	(void)nothing;
	Py_BEGIN_ALLOW_THREADS
	rc = open_request(&((struct table *)self)->request, SIZE_MAX, &notes, &report, &o, &t,
			  &err);
	rc = rc ? rc : cvl_table_next(t, &rows, &err);
	if (!rc) {
		rows = cvl_table_take(t); /* none */
		rc = rows ? 1 : cvl_no_memory(&err);
	}
	Py_END_ALLOW_THREADS
	if (rc < 0)
		raise_error(&err);
	else if (!PyErr_CheckSignals())
		result = Py_BuildValue("(NNKK)", rows_object(t, rows), facts_object(t),
				       (unsigned long long)cvl_table_gaps(t),
				       (unsigned long long)cvl_table_late(t));
	else
		cvl_rows_free(rows);
	cvl_table_close(t);
	close_opened(o);
	if (warn(&notes))
		Py_CLEAR(result);
	return result;
}

/* Its columns, without rows: [(name, kind, may be NULL, what)] */
static PyObject *table_columns(PyObject *self, PyObject *nothing)
{
	PyObject *list = PyList_New(0);
	const struct cvl_column *c = NULL;
	struct cvl_table *t = NULL;
	struct opened *o = NULL;
	struct cvl_error err;
	size_t n = 0;
	int rc;

	(void)nothing;
	rc = open_request(&((struct table *)self)->request, 0, NULL, NULL, &o, &t, &err);
	if (rc)
		raise_error(&err);
	else
		c = cvl_table_columns(t, &n);
	for (size_t i = 0; list && i < n; i++) {
		PyObject *item = Py_BuildValue("(ssOs)", c[i].name, kinds[c[i].type].name,
					       c[i].nullable ? Py_True : Py_False, c[i].what);

		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	if (rc)
		Py_CLEAR(list);
	cvl_table_close(t);
	close_opened(o);
	return list;
}

static PyMethodDef table_methods[] = {
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))table_stream,
	  METH_VARARGS | METH_KEYWORDS, "A new Arrow stream of the table, from its beginning." },
	{ "__arrow_c_schema__", table_schema, METH_NOARGS, "The table's Arrow schema." },
	{ "read", table_read, METH_NOARGS, "All rows." },
	{ "describe", table_columns, METH_NOARGS, "Its columns." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot table_slots[] = {
	{ Py_tp_new, table_new },
	{ Py_tp_dealloc, table_free },
	{ Py_tp_methods, table_methods },
	{ Py_tp_doc, "A table of a session, read anew each time." },
	{ 0, NULL },
};

static PyType_Spec table_spec = {
	"coeval._coeval.Table",
	sizeof(struct table),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	table_slots,
};

/* ---- following ---- */

struct following {
	PyObject_HEAD
	struct cvl_follow *follow;
	struct cvl_timeline *tl; /* that the table is on */
	struct cvl_table *table;
	struct cvl_table_opts opts;
	struct notes notes;
	struct cvl_report report;
	char *name, *lines;
	bool ended;
};

static PyObject *following_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	static char *keys[] = { "path", "name", "lines", "estimated", "save", NULL };
	const char *path, *name, *lines = NULL;
	int estimated = 0, save = 0, rc;
	struct following *f;
	struct cvl_error err;

	if (!PyArg_ParseTupleAndKeywords(args, words, "ss|zpp", keys, &path, &name, &lines,
					 &estimated, &save))
		return NULL;
	f = (struct following *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (!f)
		return NULL;
	f->name = copy_of(name);
	f->lines = copy_of(lines);
	f->opts.lines = f->lines;
	f->report = (struct cvl_report){ note, &f->notes };
	rc = cvl_follow_open(&f->follow, path,
			     &(struct cvl_follow_opts){ .estimated = estimated,
							.save = save,
							.report = &f->report },
			     &err);
	if (!rc)
		return (PyObject *)f;
	Py_DECREF(f);
	return raise_error(&err);
}

static void following_free(PyObject *self)
{
	struct following *f = (struct following *)self;
	PyTypeObject *type = Py_TYPE(self);

	cvl_table_close(f->table);
	cvl_follow_close(f->follow);
	free(f->name);
	free(f->lines);
	for (size_t i = 0; i < f->notes.n; i++)
		free(f->notes.text[i]);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

/* Push what the timeline has. */
static int follow_push(struct following *f, struct cvl_error *err)
{
	struct cvl_timeline *tl = cvl_follow_timeline(f->follow);
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = 0, more;

	if (!f->table)
		rc = cvl_table_attach(&f->table, tl, f->name, &f->opts, err);
	else if (tl != f->tl)
		rc = cvl_table_begin(f->table, tl, err);
	f->tl = tl;
	while (!rc && (more = cvl_timeline_next(tl, &block, err)) != 0) {
		rc = more < 0 ? more : 0;
		while (!rc && cvl_block_take(&block, &slice))
			rc = cvl_table_push(f->table, &slice, err);
	}
	return rc;
}

static PyObject *following_next(PyObject *self)
{
	struct following *f = (struct following *)self;
	struct cvl_rows *rows = NULL;
	struct cvl_error err;

	while (!f->ended) {
		int rc;

		Py_BEGIN_ALLOW_THREADS
		rc = cvl_follow_wait(f->follow, 200, &err);
		f->ended = rc == CVL_FOLLOW_ENDED;
		if (rc > 0 && cvl_follow_timeline(f->follow))
			rc = follow_push(f, &err);
		if (rc >= 0 && f->table)
			rows = cvl_table_take(f->table);
		Py_END_ALLOW_THREADS
		if (rc < 0) {
			f->ended = true;
			cvl_rows_free(rows);
			return raise_error(&err);
		}
		if (warn(&f->notes) || PyErr_CheckSignals()) {
			cvl_rows_free(rows);
			return NULL;
		}
		if (rows && rows->n)
			return rows_object(f->table, rows);
		cvl_rows_free(rows);
		rows = NULL;
	}
	return NULL;
}

static PyObject *following_iter(PyObject *self)
{
	return Py_NewRef(self);
}

static PyType_Slot following_slots[] = {
	{ Py_tp_new, following_new },
	{ Py_tp_dealloc, following_free },
	{ Py_tp_iter, following_iter },
	{ Py_tp_iternext, following_next },
	{ Py_tp_doc, "Rows of a session that grows, as they become final." },
	{ 0, NULL },
};

static PyType_Spec following_spec = {
	"coeval._coeval.Following",
	sizeof(struct following),
	0,
	Py_TPFLAGS_DEFAULT,
	following_slots,
};

/* ---- calls without a table ---- */

static void add_table(void *ctx, const struct cvl_table_info *info)
{
	PyObject **list = ctx;
	PyObject *item = *list ? Py_BuildValue("(ssO)", info->name, info->what,
					       info->result ? Py_True : Py_False) :
				 NULL;

	if (*list && (!item || PyList_Append(*list, item)))
		Py_CLEAR(*list);
	Py_XDECREF(item);
}

/* (uuid, epoch_unix_ns or None, [(name, what, result)]) */
static PyObject *about(PyObject *module, PyObject *args)
{
	PyObject *list, *epoch = NULL, *result = NULL;
	struct cvl_session *s;
	struct cvl_error err;
	const char *path;

	(void)module;
	if (!PyArg_ParseTuple(args, "s", &path))
		return NULL;
	if (cvl_session_open(&s, path, NULL, &err))
		return raise_error(&err);
	list = PyList_New(0);
	if (cvl_table_each(s, add_table, &list, &err)) {
		Py_CLEAR(list);
		raise_error(&err);
	} else if (list) {
		epoch = cvl_session_epoch(s) ? PyLong_FromLongLong(cvl_session_epoch(s)) :
					       Py_NewRef(Py_None);
	}
	if (epoch)
		result = Py_BuildValue("(sNO)", cvl_session_uuid(s), epoch, list);
	Py_XDECREF(list);
	cvl_session_close(s);
	return result;
}

static PyObject *verdicts(const struct cvl_sync *sync)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];
		PyObject *item = Py_BuildValue("(sss)", c->clock, cvl_verdict_name(c->verdict),
					       c->reason);

		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

/* (estimator, reference, [(clock, verdict, reason)]) */
static PyObject *synchronise(PyObject *module, PyObject *args, PyObject *words)
{
	static char *keys[] = { "path",  "estimator", "reference", "pulses",
				"match", "beacon_period_ns", "save", NULL };
	const char *path, *estimator = NULL, *reference = NULL;
	PyObject *pulses = NULL, *match = NULL, *result = NULL;
	char *pulse[LIST_MAX], *rule[LIST_MAX];
	struct cvl_sync *sync = NULL, *last = NULL;
	struct cvl_session *session = NULL;
	size_t n_pulse = 0, n_rule = 0;
	struct notes notes = { .n = 0 };
	const struct cvl_report report = { note, &notes };
	struct cvl_sync_opts opts = { .report = &report, .progress = { may_go_on, &notes } };
	long long period = 0;
	struct cvl_error err;
	int save = 1, rc = 0;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, words, "s|zzOOLp", keys, &path, &estimator,
					 &reference, &pulses, &match, &period, &save))
		return NULL;
	if (!take_list(pulses, pulse, &n_pulse) || !take_list(match, rule, &n_rule))
		goto out;
	opts.estimator = estimator;
	opts.reference = reference;
	opts.beacon_period_ns = period;
	opts.match = (const char *const *)rule;
	opts.n_match = n_rule;
	for (size_t i = 0; i < n_pulse && !rc; i++)
		rc = cvl_pulse_parse(&opts.pulse[opts.n_pulse++], pulse[i], &err);
	Py_BEGIN_ALLOW_THREADS
	rc = rc ? rc : cvl_session_open(&session, path, &report, &err);
	/* the session's own rules, unless some are given */
	if (!rc && cvl_sync_load_settings(&last, session, &err) > 0)
		rc = cvl_sync_recall(&opts, last, &err);
	rc = rc ? rc : cvl_sync_run(&sync, session, &opts, &err);
	if (!rc && save)
		rc = cvl_sync_save(sync, session, &err);
	Py_END_ALLOW_THREADS
	if (rc)
		raise_error(&err);
	else
		result = Py_BuildValue("(ssN)", sync->estimator, sync->reference, verdicts(sync));
	cvl_sync_free(sync);
	cvl_sync_free(last);
	cvl_session_close(session);
out:
	for (size_t i = 0; i < n_pulse; i++)
		free(pulse[i]);
	for (size_t i = 0; i < n_rule; i++)
		free(rule[i]);
	if (warn(&notes))
		Py_CLEAR(result);
	return result;
}

/* [(rule, verdict, held, violated, undecided)] */
static PyObject *check(PyObject *module, PyObject *args)
{
	const struct cvl_check_result *r = NULL;
	struct notes notes = { .n = 0 };
	const struct cvl_report report = { note, &notes };
	const struct cvl_timeline_opts opts = { .report = &report,
						.progress = { may_go_on, &notes } };
	struct cvl_check_opts how = { 0 };
	struct cvl_check_rules *rules = NULL;
	struct cvl_session *session = NULL;
	struct cvl_timeline *tl = NULL;
	struct cvl_analysis *a = NULL;
	const char *path, *file;
	PyObject *list = NULL;
	struct cvl_error err;
	int rc;

	(void)module;
	if (!PyArg_ParseTuple(args, "ss", &path, &file))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = cvl_check_rules_load(&rules, file, &err);
	how.rules = rules;
	rc = rc ? rc : cvl_session_open(&session, path, &report, &err);
	rc = rc ? rc : cvl_timeline_open(&tl, session, &opts, &err);
	rc = rc ? rc : cvl_check_open(&a, tl, &how, &err);
	rc = rc ? rc : cvl_analyse(tl, &a, 1, &err);
	Py_END_ALLOW_THREADS
	if (rc)
		raise_error(&err);
	else
		list = PyList_New(0);
	r = rc ? NULL : cvl_check_result(a);
	for (size_t i = 0; list && i < r->n; i++) {
		PyObject *item = Py_BuildValue("(ssKKK)", r->rule[i].name,
					       cvl_check_verdict_name(r->rule[i].verdict),
					       (unsigned long long)r->rule[i].held,
					       (unsigned long long)r->rule[i].violated,
					       (unsigned long long)r->rule[i].unknown);

		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	cvl_session_close(session);
	cvl_check_rules_free(rules);
	if (warn(&notes))
		Py_CLEAR(list);
	return list;
}

static PyObject *simulate(PyObject *module, PyObject *args)
{
	const char *world, *path;
	PyObject *seed = Py_None;
	struct cvl_sim *sim = NULL;
	struct notes notes = { .n = 0 };
	const struct cvl_progress progress = { may_go_on, &notes };
	unsigned long long number = 0;
	struct cvl_error err;
	int rc;

	(void)module;
	if (!PyArg_ParseTuple(args, "ss|O", &world, &path, &seed))
		return NULL;
	if (seed != Py_None)
		number = PyLong_AsUnsignedLongLong(seed);
	if (PyErr_Occurred())
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = cvl_sim_load(&sim, world, &err);
	if (!rc && seed != Py_None)
		cvl_sim_seed(sim, number);
	rc = rc ? rc : cvl_sim_run(sim, path, &progress, &err);
	cvl_sim_free(sim);
	Py_END_ALLOW_THREADS
	return rc ? raise_error(&err) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
	{ "about", about, METH_VARARGS, "What a session is, and its tables." },
	{ "synchronise", (PyCFunction)(void (*)(void))synchronise, METH_VARARGS | METH_KEYWORDS,
	  "Tie the clocks of a session." },
	{ "check", check, METH_VARARGS, "Check rules." },
	{ "simulate", simulate, METH_VARARGS, "Make the session of a simulated world." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "_coeval", "The library's part of coeval.", -1, functions,
	NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__coeval(void)
{
	PyObject *module = PyModule_Create(&definition), *table, *following;

	if (!module)
		return NULL;
	error_type = PyErr_NewExceptionWithDoc(
		"coeval.Error", "What went wrong; `code` names it, `offset` is a byte of the input or None.",
		NULL, NULL);
	column_type = PyType_FromSpec(&column_spec);
	table = PyType_FromSpec(&table_spec);
	following = PyType_FromSpec(&following_spec);
	if (!error_type || !column_type || !table || !following ||
	    PyModule_AddObjectRef(module, "Error", error_type) ||
	    PyModule_AddObjectRef(module, "Table", table) ||
	    PyModule_AddObjectRef(module, "Following", following) ||
	    PyModule_AddStringConstant(module, "version", COEVAL_VERSION))
		Py_CLEAR(module);
	Py_XDECREF(table);
	Py_XDECREF(following);
	return module;
}
