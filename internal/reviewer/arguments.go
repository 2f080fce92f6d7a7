package reviewer

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/company"
)

// verdict is the argument of submit_review.
type verdict struct {
	Verdict  string              `json:"verdict"`
	Findings []company.Finding   `json:"findings"`
	Evidence []evidence          `json:"evidence"`
	Earlier  []company.Judgement `json:"earlier"` // findings of the last review
}

// evidence is what a reviewer names for one criterion.
type evidence struct {
	Shows string   `json:"shows"`
	Ran   []string `json:"ran"`
	Read  []string `json:"read"`
}

// isEmpty says whether it names nothing at all.
func (e evidence) isEmpty() bool {
	return strings.TrimSpace(e.Shows) == "" && len(e.Ran)+len(e.Read) == 0
}

// joinClaims is the evidence as it is stored: the claim, or the names alone.
func (e evidence) joinClaims() string {
	out := strings.TrimSpace(e.Shows)
	if out == "" {
		out = strings.Join(slices.Concat(e.Ran, e.Read), ", ")
	}
	return out
}

const schema = `{"type":"object","additionalProperties":false,"required":["verdict"],"properties":{
"verdict":{"enum":["approve","request_changes"]},
"evidence":{"type":"array","maxItems":96,"description":"one a criterion, in order","items":{"type":"object","additionalProperties":false,"required":["shows"],"properties":{
"shows":{"type":"string","maxLength":4000},
"ran":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":4000},"description":"commands, as you ran them"},
"read":{"type":"array","maxItems":50,"items":{"type":"string","maxLength":1024},"description":"a.go or a.go:10-20"}}}},
"findings":{"type":"array","maxItems":50,"items":{"type":"object","additionalProperties":false,"required":["severity","what"],"properties":{
"severity":{"enum":["blocking","minor","critical","high","medium","low","info"],"description":"critical and high block"},
"category":{"enum":["correctness","evidence","style","security","performance","other"]},
"file":{"type":"string","maxLength":1024},"line":{"type":"integer","minimum":0},
"what":{"type":"string","minLength":1,"maxLength":4000},"why":{"type":"string","maxLength":4000},"suggestion":{"type":"string","maxLength":4000}}}},
"earlier":{"type":"array","maxItems":50,"description":"each finding of the last review: confirmed if it was right, mended or not; rejected if it was wrong","items":{"type":"object","additionalProperties":false,"required":["number","status"],"properties":{
"number":{"type":"integer","minimum":1},"status":{"enum":["confirmed","rejected"]},"why":{"type":"string","maxLength":4000}}}}}}`

// Synonyms that models use for the schema's values.
var (
	verdicts = map[string]string{
		"approved": company.Approve, "approves": company.Approve, "accept": company.Approve, "accepted": company.Approve, "lgtm": company.Approve,
		"changes_requested": company.RequestChanges, "request_change": company.RequestChanges, "requested_changes": company.RequestChanges,
		"reject": company.RequestChanges, "rejected": company.RequestChanges,
	}
	severities = map[string]string{
		"blocker": "blocking", "block": "blocking", "major": company.LevelHigh, "error": company.LevelHigh, "moderate": company.LevelMedium, "warning": company.LevelMedium,
		"nit": company.LevelInfo, "note": company.LevelInfo, "suggestion": company.LevelInfo, "trivial": company.LevelInfo,
	}
	judgements = map[string]string{
		"mended": company.FindingConfirmed, "fixed": company.FindingConfirmed, "resolved": company.FindingConfirmed, "right": company.FindingConfirmed, "valid": company.FindingConfirmed, "stands": company.FindingConfirmed,
		"wrong": company.FindingRejected, "invalid": company.FindingRejected, "false_positive": company.FindingRejected,
	}
	categories = map[string]string{
		"bug": company.CategoryCorrectness, "logic": company.CategoryCorrectness, "functionality": company.CategoryCorrectness,
		"test": company.CategoryEvidence, "tests": company.CategoryEvidence, "testing": company.CategoryEvidence,
		"documentation": company.CategoryStyle, "docs": company.CategoryStyle, "readability": company.CategoryStyle, "naming": company.CategoryStyle,
	}
)

// amendReview turns the forms of a review that models are used to into those of
// the schema: synonyms of a verdict, evidence and findings without a list around
// them, and evidence as plain text, which was the form of older versions. What it does not
// know stays, and the schema refuses it.
func amendReview(args json.RawMessage) json.RawMessage {
	var v map[string]any
	if json.Unmarshal(args, &v) != nil || v == nil {
		return args
	}
	if word, given := v["verdict"]; given {
		v["verdict"] = replaceSynonym(word, verdicts)
	}
	if e, given := v["evidence"]; given {
		v["evidence"] = amendEvidence(e)
	}
	switch f := v["findings"].(type) {
	case nil:
		delete(v, "findings")
	case map[string]any:
		v["findings"] = []any{f}
	}
	amendEarlier(v)
	list, _ := v["findings"].([]any)
	for _, item := range list {
		f, ok := item.(map[string]any)
		if !ok {
			continue
		}
		f["severity"] = replaceSynonym(f["severity"], severities)
		if c, given := f["category"]; given {
			f["category"] = replaceSynonym(c, categories)
		}
		for _, key := range []string{"file", "line", "why", "suggestion", "category"} {
			if value, given := f[key]; given && value == nil {
				delete(f, key)
			}
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return out
}

// amendEarlier has the verdicts on earlier findings be a list of objects with a known status.
func amendEarlier(v map[string]any) {
	switch e := v["earlier"].(type) {
	case nil:
		delete(v, "earlier")
	case map[string]any:
		v["earlier"] = []any{e}
	}
	list, _ := v["earlier"].([]any)
	for _, item := range list {
		if j, ok := item.(map[string]any); ok {
			j["status"] = replaceSynonym(j["status"], judgements)
			if why, given := j["why"]; given && why == nil {
				delete(j, "why")
			}
		}
	}
}

// replaceSynonym replaces a synonym by the schema's value; case and blanks do not count.
func replaceSynonym(value any, by map[string]string) any {
	word, ok := value.(string)
	if !ok {
		return value
	}
	word = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(word)), " ", "_")
	word = strings.ReplaceAll(word, "-", "_")
	if other, known := by[word]; known {
		return other
	}
	return word
}

// amendEvidence has evidence be a list of objects. One text of several lines is
// one entry for each line.
func amendEvidence(value any) any {
	switch e := value.(type) {
	case nil:
		return []any{}
	case string:
		var encoded []any
		if json.Unmarshal([]byte(e), &encoded) == nil {
			return amendEvidence(encoded)
		}
		var lines []any
		for line := range strings.Lines(e) {
			if line = strings.TrimLeft(strings.TrimSpace(line), "-*• "); line != "" {
				lines = append(lines, line)
			}
		}
		return amendEvidence(lines)
	case map[string]any:
		return amendEvidence([]any{e})
	case []any:
		out := make([]any, len(e))
		for i, item := range e {
			switch item := item.(type) {
			case string:
				out[i] = map[string]any{"shows": item}
			case map[string]any:
				for _, key := range []string{"ran", "read"} {
					switch list := item[key].(type) {
					case string:
						item[key] = []any{list}
					case nil:
						delete(item, key)
					}
				}
				if _, given := item["shows"]; !given {
					item["shows"] = ""
				}
				out[i] = item
			default:
				out[i] = item
			}
		}
		return out
	}
	return value
}

// splitSeverities has each finding block or not, as its level says.
func splitSeverities(findings []company.Finding) {
	for i := range findings {
		f := &findings[i]
		switch level := string(f.Severity); level {
		case company.LevelCritical, company.LevelHigh:
			f.Severity, f.Level = company.Blocking, level
		case company.LevelMedium, company.LevelLow, company.LevelInfo:
			f.Severity, f.Level = company.Minor, level
		}
	}
}
