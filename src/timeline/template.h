/* SPDX-License-Identifier: MIT */
/**
 * The fields of an event class as text or JSON, by a template: the text between its fields made
 * once, and the fields written straight from the event's bytes.
 *
 * The same as by cvl_fields_text() and cvl_fields_json(), but for the packet's context, which comes
 * before. Several threads may use one template.
 */
#ifndef TIMELINE_TEMPLATE_H
#define TIMELINE_TEMPLATE_H

#include <coeval/fields.h>

struct fields_template;

/**
 * Of event class @class of @trace. *@out is NULL if it has what templates cannot do: variants,
 * arrays of more than numbers. CVL_E_NOMEM.
 */
int template_new(struct fields_template **out, const struct cvl_trace *trace, size_t class,
		 bool json);
void template_free(struct fields_template *t);

/**
 * Write the fields of event @i. @first: nothing was written before them, by which they would be
 * separated.
 */
int template_put(const struct fields_template *t, bool first, struct cvl_out *o,
		 struct cvl_stream *stream, const struct cvl_batch *batch, size_t i,
		 struct cvl_error *err);

#endif
