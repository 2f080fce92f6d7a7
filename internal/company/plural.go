package company

import "fmt"

// Count returns a number with its noun, for people: 1 file, 2 files.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
