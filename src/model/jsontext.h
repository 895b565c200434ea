/*
 * jsontext: check that a text is one JSON object (RFC 8259, on one line, UTF-8).
 *
 * Annotation arguments are stored as JSON and printed verbatim. Tables can be hostile, so writers of JSON check
 * first. Nesting deeper than 32 is refused.
 */
#ifndef SONDE_MODEL_JSONTEXT_H
#define SONDE_MODEL_JSONTEXT_H

#include "store/schema.h"

#include <stdbool.h>

bool model_is_json_object(const struct store_text *text);

#endif
