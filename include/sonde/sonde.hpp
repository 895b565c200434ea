/*
 * sonde.hpp: sonde.h for C++. A thin wrapper: no state, no exceptions, the same cost.
 *
 * 	sonde::span s("epoch", "train");
 * 	s.arg("number", 3).arg("rate", 0.1).arg("data", path);
 * 	sonde::step("epoch", 3, loss);
 *
 * Names need not be literals here and are looked up each time (some 10 ns while recording); SONDE_SPAN("name") of
 * sonde.h, which works in C++ too, looks up a literal once. Stack unwinding ends spans.
 */
#ifndef SONDE_SONDE_HPP
#define SONDE_SONDE_HPP

#include "sonde.h"

#include <chrono>
#include <limits>
#include <string>
#include <type_traits>

namespace sonde
{

namespace detail
{

/* A name as a C string. */
inline const char *name(const char *text)
{
	return text;
}

inline const char *name(const std::string &text)
{
	return text.c_str();
}

template <class T>
using if_signed = typename std::enable_if<std::is_integral<T>::value && std::is_signed<T>::value, int>::type;
template <class T>
using if_unsigned = typename std::enable_if<std::is_integral<T>::value && !std::is_signed<T>::value, int>::type;
template <class T> using if_real = typename std::enable_if<std::is_floating_point<T>::value, int>::type;

inline void put(struct sonde_note *n, const char *key, std::uint32_t type, std::uint64_t bits, const char *text)
{
	sonde_arg_(n, nullptr, key, type, bits, text);
}

template <class T, if_signed<T> = 0> void arg(struct sonde_note *n, const char *key, T value)
{
	put(n, key, SONDE_VALUE_INT, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), nullptr);
}

template <class T, if_unsigned<T> = 0> void arg(struct sonde_note *n, const char *key, T value)
{
	put(n, key, SONDE_VALUE_UINT, static_cast<std::uint64_t>(value), nullptr);
}

template <class T, if_real<T> = 0> void arg(struct sonde_note *n, const char *key, T value)
{
	put(n, key, SONDE_VALUE_REAL, sonde_real_bits_(static_cast<double>(value)), nullptr);
}

inline void arg(struct sonde_note *n, const char *key, const char *value)
{
	put(n, key, SONDE_VALUE_STR, UINT64_MAX, value);
}

inline void arg(struct sonde_note *n, const char *key, const std::string &value)
{
	put(n, key, SONDE_VALUE_STR, value.size(), value.data());
}

} // namespace detail

inline bool is_on() noexcept
{
	return sonde_is_on() != 0;
}

/* From its construction to the end of its block, or to end(). Not movable, and bound to its thread. */
class span
{
public:
	template <class Name> explicit span(const Name &name, const char *category = nullptr) noexcept
	{
		sonde_note_begin_(&s.note, SONDE_ARG_BYTES, nullptr, detail::name(name), category);
	}

	~span()
	{
		end();
	}

	span(const span &) = delete;
	span &operator=(const span &) = delete;

	/* Integers, floating-point numbers, strings; before the end. */
	template <class T> span &arg(const char *key, const T &value) noexcept
	{
		detail::arg(&s.note, key, value);
		return *this;
	}

	void end() noexcept
	{
		sonde_span_end(&s);
	}

private:
	struct sonde_span s;
};

/* An instant, recorded at the end of the block: sonde::instant("evict", "cache").arg("bytes", n); */
class instant
{
public:
	template <class Name> explicit instant(const Name &name, const char *category = nullptr) noexcept
	{
		sonde_instant_begin_(&s.note, SONDE_ARG_BYTES, nullptr, detail::name(name), category);
	}

	~instant()
	{
		sonde_instant_end(&s);
	}

	instant(const instant &) = delete;
	instant &operator=(const instant &) = delete;

	template <class T> instant &arg(const char *key, const T &value) noexcept
	{
		detail::arg(&s.note, key, value);
		return *this;
	}

private:
	struct sonde_span s;
};

template <class Name> void counter(const Name &name, double value) noexcept
{
	sonde_counter_(nullptr, detail::name(name), value);
}

template <class Name>
void step(const Name &name, std::int64_t index, double value = std::numeric_limits<double>::quiet_NaN()) noexcept
{
	sonde_step_(nullptr, detail::name(name), index, value);
}

template <class Name, class Text> void meta(const Name &key, const Text &value) noexcept
{
	sonde_meta_(nullptr, detail::name(key), detail::name(value));
}

template <class Name> void metric_add(const Name &name, double value = 1) noexcept
{
	sonde_metric_(nullptr, detail::name(name), SONDE_UPDATE_ADD, value);
}

template <class Name> void metric_set(const Name &name, double value) noexcept
{
	sonde_metric_(nullptr, detail::name(name), SONDE_UPDATE_SET, value);
}

template <class Name> void metric_observe(const Name &name, double value) noexcept
{
	sonde_metric_(nullptr, detail::name(name), SONDE_UPDATE_OBSERVE, value);
}

/* n more events. */
template <class Name> void rate(const Name &name, double n = 1) noexcept
{
	sonde_metric_(nullptr, detail::name(name), SONDE_UPDATE_RATE, n);
}

/*
 * Observes the seconds of a scope in a histogram:
 *
 * 	sonde::timer t("infer_seconds");
 */
class timer
{
public:
	explicit timer(const char *metric_name) noexcept : metric(sonde_is_on() ? metric_name : nullptr)
	{
		if (metric)
			begun = std::chrono::steady_clock::now();
	}
	~timer()
	{
		if (metric)
			metric_observe(metric,
					std::chrono::duration<double>(std::chrono::steady_clock::now() - begun)
							.count());
	}
	timer(const timer &) = delete;
	timer &operator=(const timer &) = delete;

private:
	const char *metric; /* nullptr: not recorded */
	std::chrono::steady_clock::time_point begun;
};

/* The current value: `fallback` until another value within the bounds is set. */
template <class Name, class T, detail::if_signed<T> = 0>
T knob(const Name &name, T fallback, T low = std::numeric_limits<T>::min(),
		T high = std::numeric_limits<T>::max()) noexcept
{
	return static_cast<T>(sonde_knob_int_(nullptr, detail::name(name), fallback, low, high));
}

template <class Name, class T, detail::if_real<T> = 0>
T knob(const Name &name, T fallback, T low = -std::numeric_limits<T>::infinity(),
		T high = std::numeric_limits<T>::infinity()) noexcept
{
	return static_cast<T>(sonde_knob_real_(nullptr, detail::name(name), static_cast<double>(fallback),
			static_cast<double>(low), static_cast<double>(high)));
}

} // namespace sonde

#endif
