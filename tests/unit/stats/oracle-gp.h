/*
 * Made by: tests/unit/stats/oracle-gp.py > tests/unit/stats/oracle-gp.h
 * Expected values; see there.
 */
/* clang-format off */
static const double gp_x[] = { 0.625, 0.897, 2.0, 0.225, 0.3, 2.0, 0.005, 0.821, 2.0, 0.468, 0.303, 1.0,
	0.255, 0.445, 1.0, 0.553, 0.996, 1.0, 0.622, 0.989, 0.0, 0.16, 0.613, 1.0, 0.036, 0.515, 1.0 };
static const double gp_y[] = { 1.4031, 0.8733, 0.694, 1.5468, 1.5501, 2.2934, 1.5862, 1.473, 0.9087 };
static const double gp_noise[] = { 0.25, 1.0, 1.0, 1.0, 0.25, 1.0, 1.0, 1.0, 0.25 };
static const double gp_theta[] = { -0.4, 0.2, 0.5, -0.3, -1.1, -3.5 };
static const double gp_evidence[] = { -5.717678614304593 };
static const double gp_gradient[] = { -0.6355621739340122, -0.28736107867318356, 0.19852934215099555,
	-1.410432514181714, -0.05694131948915289, -0.5805396812238091 };
static const double gp_at[] = { 0.31, 0.62, 1.0, 0.9, 0.05, 2.0, 0.5, 0.5, -1.0 };
static const double gp_mean[] = { 1.7809094186447645, 0.964893198694893, 1.4157934009071833 };
static const double gp_variance[] = { 0.016460394875808637, 0.4272064432134488, 0.3053812523622701 };
