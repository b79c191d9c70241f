// Complex numbers over double or Pack. The standard ones are shared between instruction sets, and check for infinities.
#pragma once

#include "kernels/algebra.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
struct Complex {
    T re, im;

    Complex() = default;
    Complex(T real, T imaginary = 0.0) : re(real), im(imaginary) {}
    Complex& operator+=(const Complex& b) { return *this = *this + b; }
    Complex& operator-=(const Complex& b) { return *this = *this - b; }

    friend Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
    friend Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
    friend Complex operator*(const Complex& a, const Complex& b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    friend Complex operator*(const T& a, const Complex& b) { return {a * b.re, a * b.im}; }
    friend Complex operator*(const Complex& a, const T& b) { return {a.re * b, a.im * b}; }
};

// |a|^2
template <class T>
inline T norm(const Complex<T>& a) {
    return a.re * a.re + a.im * a.im;
}
template <class T>
inline Complex<T> conjugate(const Complex<T>& a) {
    return {a.re, -a.im};
}
template <class T>
inline Complex<T> inverse(const Complex<T>& a) {
    return (1.0 / norm(a)) * conjugate(a);
}
template <class T>
inline Complex<T> times_i(const Complex<T>& a) {
    return {-a.im, a.re};
}
// a where the condition is 1, b where it is 0.
template <class T>
inline Complex<T> select(T condition, const Complex<T>& a, const Complex<T>& b) {
    return {Lanes<T>::select(condition, a.re, b.re), Lanes<T>::select(condition, a.im, b.im)};
}

}  // namespace kinodyn::KINODYN_TARGET
