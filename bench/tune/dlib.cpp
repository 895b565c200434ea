// dlib's global optimiser (MaxLIPO and a trust region) as a program that is asked and told through pipes.
// Arguments: trials, seed, then for each parameter its lower end, upper end and 1 if it is whole.
#include <cstdio>
#include <cstdlib>
#include <dlib/global_optimization.h>

int main(int argc, char **argv)
{
	const size_t dims = (argc - 3) / 3;
	dlib::matrix<double, 0, 1> lower(dims), upper(dims);
	std::vector<bool> is_whole(dims);

	for (size_t i = 0; i < dims; i++) {
		lower(i) = atof(argv[3 + 3 * i]);
		upper(i) = atof(argv[4 + 3 * i]);
		is_whole[i] = atoi(argv[5 + 3 * i]) != 0;
	}
	dlib::global_function_search search(dlib::function_spec(lower, upper, is_whole));
	search.set_seed(atol(argv[2]));
	for (long t = 0; t < atol(argv[1]); t++) {
		dlib::function_evaluation_request request = search.get_next_x();
		double value;

		for (size_t i = 0; i < dims; i++)
			printf("%.17g ", request.x()(i));
		printf("\n");
		fflush(stdout);
		if (scanf("%lf", &value) != 1)
			return 1;
		request.set(-value);
	}
	return 0;
}
