package company

// Briefing records the inputs of a run, so that its work can be traced to its prompt, persona and model later.
type Briefing struct {
	Prompt Hash `json:"prompt_hash,omitempty"` // of the system message and the first message
	// Rules is the hash of the role's system prompt, which is a file of this version. Empty means unknown.
	Rules   Hash       `json:"rules_hash,omitempty"`
	Persona Hash       `json:"persona_hash,omitempty"` // of the operator's addition to the system prompt, if any
	Model   BriefModel `json:"model"`
}

// BriefModel is a model as named in the office's config. If a fallback answered a request, the run's journal names it.
type BriefModel struct {
	Profile string `json:"profile,omitempty"`
	Adapter string `json:"adapter,omitempty"`
	Model   string `json:"model,omitempty"`
}

// maxModelName limits a name of a model, in bytes.
const maxModelName = 200

// newBriefing returns the bounded briefing to store in the ledger. It returns nil if there is none or the ledger
// already has it.
func (r *Run) newBriefing(briefing *Briefing) *Briefing {
	if briefing == nil {
		return nil
	}
	c := *briefing
	for _, name := range []*string{&c.Model.Profile, &c.Model.Adapter, &c.Model.Model} {
		*name = plainLine(*name, maxModelName)
	}
	if r.Briefing != nil && *r.Briefing == c {
		return nil
	}
	return &c
}
