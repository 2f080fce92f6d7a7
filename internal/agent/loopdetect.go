package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// longestCycle is how many different calls a circle may have to be seen.
const longestCycle = 5

// callSignature names a call with its result, so that the same call with the
// same result has the same name. Times are no news.
func callSignature(name, args, result string) [32]byte {
	return sha256.Sum256([]byte(name + "\x00" + canonicalJSON(args) + "\x00" + stripTimes(result)))
}

// canonicalJSON is the same for two writings of one JSON value; other text is its
// own canonical form.
func canonicalJSON(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return args
	}
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(v) != nil {
		return args
	}
	return b.String()
}

// hashArguments names arguments: the same for two writings of one JSON value.
func hashArguments(args string) company.Hash { return TextHash(canonicalJSON(args)) }

// aTime matches at the start of a number: a date, a clock, a duration.
var aTime = lazyregexp.New(`^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?` +
	`|\d{1,2}:\d\d:\d\d(\.\d+)?\b` +
	`|\d+(\.\d+)?(e-?\d+)? ?(ns|µs|us|ms|s|sec|seconds|m|min|h)\b)`)

// stripTimes takes the times out of a result. Only the starts of numbers are
// looked at: the expression over a whole 64 KiB result costs milliseconds, in
// every turn.
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

// countRepeats tells how often the newest cycle of calls stands at the end of
// seen, one after the other, for the length where that is most often: 1 means
// that nothing repeats.
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

// cyclesEqual compares the last n of seen with the n that stand r cycles earlier.
func cyclesEqual(seen [][32]byte, n, r int) bool {
	for i := 1; i <= n; i++ {
		if seen[len(seen)-i] != seen[len(seen)-r*n-i] {
			return false
		}
	}
	return true
}
