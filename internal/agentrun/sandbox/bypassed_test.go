package sandbox

import (
	"testing"

	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/company"
)

// What bypasses a filter is found in a run's quarantine while the run goes on, and is in the changes that its end
// records.
func TestBypassedFilesOfARun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rule := b.commit(string(b.p.Base), ".gitattributes", "secrets/** filter=git-crypt\n")
	head := b.commit(rule, "secrets/a.yml", "user: me\n")
	b.push(head, "refs/heads/agent/t1-01-x")
	found, err := b.quarantine.FindBypassed(t.Context(), b.p.Mirror, company.OID(head))
	if err != nil || len(found) != 1 || found[0].Path != "secrets/a.yml" || found[0].By != "filter=git-crypt" {
		t.Fatalf("%+v %v", found, err)
	}
	end := b.conclude(agent.EndFinal, agenttools.Finish{Summary: "done", Commit: company.OID(head)})
	by := map[string]string{}
	for _, change := range end.Changes {
		by[change.Path] = change.Bypassed
	}
	if len(by) != 2 || by["secrets/a.yml"] != "filter=git-crypt" || by[".gitattributes"] != "" {
		t.Errorf("%+v", end.Changes)
	}
}
