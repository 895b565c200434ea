/* layer-presets: the texts of rules_presets, in the same order. Private to analyze/. */
#ifndef SONDE_ANALYZE_LAYER_PRESETS_H
#define SONDE_ANALYZE_LAYER_PRESETS_H

extern const char *const rules_preset_texts[];

#endif
