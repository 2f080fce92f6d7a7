package debian

import (
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.ExerciseProxied(t, Archives{}, ecosystemtest.Served{
		Package: company.Dependency{Ecosystem: ecosystem.Debian, Name: "g++", Version: "1~2_amd64"},
		Files: map[string]string{"/dists/stable/InRelease": "signed",
			"/pool/main/g/g%2B%2B/g%2B%2B_1~2_amd64.deb": debMagic},
		Metadata: []string{"0/dists/stable/InRelease"}, File: "0/pool/main/g/g%2b%2b/g%2b%2b_1%7e2_amd64.deb",
	})
}

// Only suites that an archive has are in a client's list.
func TestSourceLines(t *testing.T) {
	up := ecosystem.At(ecosystem.Endpoint{URL: "http://a", Parts: map[string][]string{"stable": {"main", "contrib"}}},
		ecosystem.Endpoint{URL: "http://b", Parts: map[string][]string{"other": {"main"}}})
	got := Archives{}.SourceLines(up, "http://127.0.0.1:1/debian", "/k.gpg", []string{"stable", "other", "none"})
	if want := []string{"deb [signed-by=/k.gpg] http://127.0.0.1:1/debian/0 stable main contrib",
		"deb [signed-by=/k.gpg] http://127.0.0.1:1/debian/1 other main"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
