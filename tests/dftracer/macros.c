/* Every macro of dftracer.h in C, and the functions behind them; the test knows what must be in the log. */
#include <dftracer/dftracer.h>
#include <stdlib.h>

static void function(void)
{
	DFTRACER_C_FUNCTION_START()
	DFTRACER_C_FUNCTION_UPDATE_INT("int", 1)
	DFTRACER_C_FUNCTION_UPDATE_STR("str", "one")
	DFTRACER_C_FUNCTION_UPDATE_INT_TYPE("int_type", 2, MT_VALUE)
	DFTRACER_C_FUNCTION_UPDATE_STR_TYPE("str_type", "two", MT_IGNORE)
	EntityID entity = DFTRACER_C_ENTITY("thing", "a", DFT_STORE_MEMORY, NULL);
	DFTRACER_C_FUNCTION_RELATE(DFT_REL_UPDATED, entity)
	DFTRACER_C_FUNCTION_USES("thing", "b")
	DFTRACER_C_FUNCTION_GENERATES("thing", "c")
	DFTRACER_C_FUNCTION_END()
}

static void region(void)
{
	DFTRACER_C_REGION_START(outer)
	DFTRACER_C_REGION_START(inner)
	DFTRACER_C_REGION_UPDATE_INT(inner, "int", 3)
	DFTRACER_C_REGION_UPDATE_STR(inner, "str", "three")
	DFTRACER_C_REGION_UPDATE_INT_TYPE(inner, "int_type", 4, MT_KEY)
	DFTRACER_C_REGION_UPDATE_STR_TYPE(inner, "str_type", "four", MT_KEY)
	EntityID a = DFTRACER_C_ENTITY("thing", "a", DFT_STORE_MEMORY, NULL);
	EntityID d = DFTRACER_C_ENTITY("thing", "d", DFT_STORE_OTHER, "/d");
	DFTRACER_C_REGION_RELATE(inner, DFT_REL_INVALIDATED, a)
	DFTRACER_C_ENTITY_RELATE(DFT_REL_DEPENDS_ON, a, d)
	DFTRACER_C_REGION_END(inner)
	DFTRACER_C_REGION_END(outer)
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL)
	} else {
		DFTRACER_C_INIT(NULL, NULL, NULL)
	}
	DFTRACER_C_METADATA(meta, "key", "value")
	DFTRACER_C_ENTITY_TYPE("thing", DFT_ROLE_INTERMEDIATE, "any")
	DFTRACER_C_APP_METADATA_INT("number", 5)
	DFTRACER_C_APP_METADATA_STR("text", "five")
	DFTRACER_C_MARK_USED("mine")
	function();
	region();
	log_event("logged", "OWN", get_time(), 7);
	DFTRACER_C_FINI();
	return 0;
}
