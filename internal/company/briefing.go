package company

// Briefing is what a run was begun with, so that it can be told later which words, which
// persona and which model led to its work.
type Briefing struct {
	Prompt  Hash       `json:"prompt_hash,omitempty"`  // of the system message and the first message
	Rules   Hash       `json:"rules_hash,omitempty"`   // of the role's system prompt, which is a file of this version; empty: not known
	Persona Hash       `json:"persona_hash,omitempty"` // of the operator's addition to them; empty: there was none
	Model   BriefModel `json:"model"`
}

// BriefModel is a model as the office's config names it. Which one answered a request,
// behind a fallback, the run's journal says.
type BriefModel struct {
	Profile string `json:"profile,omitempty"`
	Adapter string `json:"adapter,omitempty"`
	Model   string `json:"model,omitempty"`
}

// maxModelName bounds a name of a model, in bytes.
const maxModelName = 200

// newBriefing is what the ledger is to keep of what a run says it was begun with; nil:
// the ledger has it.
func (r *Run) newBriefing(b *Briefing) *Briefing {
	if b == nil {
		return nil
	}
	c := *b
	for _, name := range []*string{&c.Model.Profile, &c.Model.Adapter, &c.Model.Model} {
		*name = plainLine(*name, maxModelName)
	}
	if r.Briefing != nil && *r.Briefing == c {
		return nil
	}
	return &c
}
