package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"
)

// A rate limit that asks for no wait, for one that is over, or for one that no
// number holds, is not asked again at once for ever.
func TestRateLimitMinimumWait(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"0", "-0", "9223372037", "18446744073"} {
		resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {asks}}}
		if wait, limited := rateLimitWait(&github.ErrorResponse{Response: resp}); !limited || wait < time.Second {
			t.Errorf("Retry-After %s: %s, %v", asks, wait, limited)
		}
	}
	for _, asks := range []time.Duration{0, -time.Hour} {
		if wait, limited := rateLimitWait(
			fmt.Errorf("asked: %w", &github.AbuseRateLimitError{RetryAfter: &asks})); !limited || wait < time.Second {
			t.Errorf("%s: %s, %v", asks, wait, limited)
		}
	}
}
