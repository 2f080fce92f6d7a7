package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// longestCycle is the largest number of different calls in a cycle that is detected.
const longestCycle = 5

// callSignature returns a hash of a call and its result. Times in the result are ignored.
func callSignature(name, args, result string) [32]byte {
	return sha256.Sum256([]byte(name + "\x00" + canonicalJSON(args) + "\x00" + stripTimes(result)))
}

// canonicalJSON returns the same text for every notation of one JSON value. Other text stays unchanged.
func canonicalJSON(args string) string {
	decoder := json.NewDecoder(strings.NewReader(args))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil || decoder.More() {
		return args
	}
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(v) != nil {
		return args
	}
	return b.String()
}

// hashArguments returns the same hash for every notation of one JSON value.
func hashArguments(args string) company.Hash { return TextHash(canonicalJSON(args)) }

// aTime matches a time at the start of a number: a date, a clock time, a duration.
var aTime = lazyregexp.New(`^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?` +
	`|\d{1,2}:\d\d:\d\d(\.\d+)?\b` +
	`|\d+(\.\d+)?(e-?\d+)? ?(ns|µs|us|ms|s|sec|seconds|m|min|h)\b)`)

// stripTimes replaces the times in a result. It matches only at the starts of numbers, because the expression
// over a whole 64 KiB result costs milliseconds in every turn.
func stripTimes(s string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || i > 0 && wordByte(s[i-1]) {
			continue
		}
		if m := aTime.FindString(s[i:min(len(s), i+64)]); m != "" {
			b.WriteString(s[kept:i] + "<time>")
			kept = i + len(m)
			i = kept - 1
		}
	}
	b.WriteString(s[kept:])
	return b.String()
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// countRepeats returns how often the newest cycle of calls repeats at the end of seen, for the cycle length with
// the most repeats. 1 means that nothing repeats.
func countRepeats(seen [][32]byte) int {
	best := min(1, len(seen))
	for n := 1; n <= longestCycle; n++ {
		r := 1
		for (r+1)*n <= len(seen) && cyclesEqual(seen, n, r) {
			r++
		}
		best = max(best, r)
	}
	return best
}

// cyclesEqual compares the last n of seen with the n calls that are r cycles earlier.
func cyclesEqual(seen [][32]byte, n, r int) bool {
	for i := 1; i <= n; i++ {
		if seen[len(seen)-i] != seen[len(seen)-r*n-i] {
			return false
		}
	}
	return true
}
