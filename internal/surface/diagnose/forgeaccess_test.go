package diagnose

import (
	"strings"
	"testing"

	"company/internal/forge"
)

// Doctor says what the token may, which is less than what the person may.
func TestAccessResult(t *testing.T) {
	repo := forge.Repo{Owner: "acme", Name: "app"}
	for _, c := range []struct {
		may  forge.Access
		ok   bool
		want string
	}{
		{forge.Access{Push: true}, true, "can push"},
		{forge.Access{MissingPermissions: []string{"write:repository"}}, false, "lacks write:repository"},
		{forge.Access{Push: true, MissingPermissions: []string{"write:issue"}}, false, "lacks write:issue"},
		{forge.Access{Fork: "https://git.example.com/ann/app.git"}, true, "ann/app.git is used"},
		{forge.Access{}, true, "the first delivery forks it"},
	} {
		if got := AccessResult(repo, c.may, "export T"); got.OK != c.ok || !strings.Contains(got.Found, c.want) ||
			!c.ok && got.Fix != "export T" {
			t.Errorf("%+v: %+v", c.may, got)
		}
	}
}
