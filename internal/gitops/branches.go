package gitops

import (
	"context"
	"strings"
)

// agentSpace is the folder of a run's branches. Their names contain no further slash.
const agentSpace = "refs/heads/agent/"

// Branches returns the agent branches that the run pushed, by full name.
func (q *Quarantine) Branches(ctx context.Context) (map[string]OID, error) {
	result, err := q.s.runOK(
		ctx, call{dir: q.dir, args: []string{"for-each-ref", "--format=%(objectname) %(refname)", agentSpace}})
	if err != nil {
		return nil, err
	}
	out := map[string]OID{}
	pattern := BranchPattern(q.ticket)
	for line := range strings.SplitSeq(result.outputText(), "\n") {
		if id, name, ok := strings.Cut(line, " "); ok && OID(id).Valid() && pattern.MatchString(name) {
			out[name] = OID(id)
		}
	}
	return out, nil
}
