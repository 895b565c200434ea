/* Every macro of dftracer.h in C++, and the class behind them; the test knows what must be in the log. */
#include <dftracer/dftracer.h>

static void function()
{
	DFTRACER_CPP_FUNCTION()
	DFTRACER_CPP_FUNCTION_UPDATE("int", 1)
	DFTRACER_CPP_FUNCTION_UPDATE("str", "one")
	DFTRACER_CPP_FUNCTION_UPDATE_TYPE("int_type", 2, MT_VALUE)
	DFTRACER_CPP_FUNCTION_UPDATE_TYPE("str_type", "two", MT_IGNORE)
	EntityID entity = DFTRACER_CPP_ENTITY("thing", "a", DFT_STORE_MEMORY, nullptr);
	DFTRACER_CPP_FUNCTION_RELATE(DFT_REL_UPDATED, entity)
	DFTRACER_CPP_FUNCTION_USES("thing", "b")
	DFTRACER_CPP_FUNCTION_GENERATES("thing", "c")
}

static void region()
{
	DFTRACER_CPP_REGION(outer)
	DFTRACER_CPP_REGION_UPDATE(outer, "scoped", 9)
	DFTRACER_CPP_REGION_UPDATE_TYPE(outer, "typed", "nine", MT_KEY)
	EntityID d = DFTRACER_CPP_ENTITY("thing", "d", DFT_STORE_OTHER, "/d");
	DFTRACER_CPP_REGION_RELATE(outer, DFT_REL_USED, d)
	DFTRACER_CPP_REGION_START(inner)
	DFTRACER_CPP_REGION_DYN_UPDATE(inner, "int", 3)
	DFTRACER_CPP_REGION_DYN_UPDATE(inner, "str", "three")
	DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(inner, "int_type", 4, MT_KEY)
	DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(inner, "str_type", "four", MT_KEY)
	EntityID a = DFTRACER_CPP_ENTITY("thing", "a", DFT_STORE_MEMORY, nullptr);
	DFTRACER_CPP_REGION_DYN_RELATE(inner, DFT_REL_INVALIDATED, a)
	DFTRACER_CPP_ENTITY_RELATE(DFT_REL_DEPENDS_ON, a, d)
	DFTRACER_CPP_REGION_END(inner);
}

int main(int argc, char **)
{
	if (argc > 1) {
		DFTRACER_CPP_INIT_NO_BIND(nullptr, nullptr, nullptr)
	} else {
		DFTRACER_CPP_INIT(nullptr, nullptr, nullptr)
	}
	DFTRACER_CPP_METADATA(meta, "key", "value")
	DFTRACER_CPP_ENTITY_TYPE("thing", DFT_ROLE_INTERMEDIATE, "any")
	DFTRACER_CPP_APP_METADATA_INT("number", 5)
	DFTRACER_CPP_APP_METADATA_STR("text", "five")
	DFTRACER_CPP_MARK_USED("mine")
	function();
	region();
	DFTracer early("early", "OWN", DF_DATA_EVENT);
	early.finalize();
	log_event("logged", "OWN", get_time(), 7);
	DFTRACER_CPP_FINI();
	return 0;
}
