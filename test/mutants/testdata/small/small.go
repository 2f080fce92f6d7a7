// Package small is broken on purpose by the tests of mutants. Which of its
// mutants its tests notice is known.
package small

// Within keeps n within most.
func Within(n, most int) int {
	if n > most { //mutant:equal operator of two that are the same, either is right
		return most
	}
	return n
}

// Steps is how many steps it takes down to 0. One mutant never ends.
func Steps(n int) int {
	steps := 0
	for n > 0 {
		n--
		steps++
	}
	return steps
}

// Even is asked about 2 alone: that n%1 is always 0 goes unnoticed.
func Even(n int) bool { return n%2 == 0 }

// Idle is called by no test.
func Idle() bool { return false }

// Greet has no mutant that compiles: texts are not subtracted.
func Greet(name string) string { return "Hello " + name }
