package reviewer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// verdict holds the arguments of submit_review.
type verdict struct {
	Verdict  string              `json:"verdict"`
	Findings []company.Finding   `json:"findings"`
	Evidence []evidence          `json:"evidence"`
	Earlier  []company.Judgement `json:"earlier"` // judgements on the findings of the last review
}

// evidence is a reviewer's evidence for one criterion, or for the numbered ones in For.
type evidence struct {
	For   []int    `json:"for"`
	Shows string   `json:"shows"`
	Ran   []string `json:"ran"`
	Read  []string `json:"read"`
}

// isEmpty reports whether the entry has no evidence.
func (e evidence) isEmpty() bool {
	return strings.TrimSpace(e.Shows) == "" && len(e.Ran)+len(e.Read) == 0
}

// joinClaims returns the evidence as it is stored: the claim, or else only the names.
func (e evidence) joinClaims() string {
	out := strings.TrimSpace(e.Shows)
	if out == "" {
		out = strings.Join(slices.Concat(e.Ran, e.Read), ", ")
	}
	return out
}

// spreadEvidence sorts evidence by criterion. If some entries have numbers, an entry without one goes to the
// first criterion without an entry. fault is a text for the model.
func spreadEvidence(list []evidence, criteria int) (spread []evidence, fault string) {
	if !slices.ContainsFunc(list, func(e evidence) bool { return len(e.For) > 0 }) {
		return list, ""
	}
	of := make([][]evidence, criteria)
	for _, e := range list {
		slices.Sort(e.For)
		for _, n := range slices.Compact(e.For) {
			if n < 1 || n > criteria {
				return nil, fmt.Sprintf("there is no criterion %d for evidence: their numbers are 1 to %d", n, criteria)
			}
			of[n-1] = append(of[n-1], e)
		}
	}
	for _, e := range list {
		if len(e.For) > 0 {
			continue
		}
		free := slices.IndexFunc(of, func(entries []evidence) bool { return entries == nil })
		if free < 0 {
			return nil, "an entry of the evidence has no numbers in for, and each criterion has its entry"
		}
		of[free] = []evidence{e}
	}
	for _, entries := range of {
		var shows []string
		var all evidence
		for _, e := range entries {
			if text := strings.TrimSpace(e.Shows); text != "" {
				shows = append(shows, text)
			}
			all.Ran, all.Read = append(all.Ran, e.Ran...), append(all.Read, e.Read...)
		}
		all.Shows = strings.Join(shows, "; ")
		spread = append(spread, all)
	}
	return spread, ""
}

const schema = `{"type":"object","additionalProperties":false,"required":["verdict"],"properties":{
"verdict":{"enum":["approve","request_changes"]},
"evidence":{"type":"array","maxItems":96,"description":"one a criterion, in order; or in for the numbers of those it shows","items":{"type":"object","additionalProperties":false,"required":["shows"],"properties":{
"for":{"type":"array","maxItems":96,"items":{"type":"integer","minimum":1}},
"shows":{"type":"string","maxLength":4000},
"ran":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":4000},"description":"commands, as you ran them"},
"read":{"type":"array","maxItems":50,"items":{"type":"string","maxLength":1024},"description":"a.go or a.go:10-20"}}}},
"findings":{"type":"array","maxItems":50,"items":{"type":"object","additionalProperties":false,"required":["severity","what"],"properties":{
"severity":{"enum":["blocking","minor","critical","high","medium","low","info"],"description":"critical and high block"},
"category":{"enum":["correctness","evidence","style","security","performance","other"]},
"file":{"type":"string","maxLength":1024},"line":{"type":"integer","minimum":0},
"what":{"type":"string","minLength":1,"maxLength":4000},"why":{"type":"string","maxLength":4000},"suggestion":{"type":"string","maxLength":4000}}}},
"earlier":{"type":"array","maxItems":50,"description":"each finding of the last review: mended, confirmed (right, still there) or rejected (wrong)","items":{"type":"object","additionalProperties":false,"required":["number","status"],"properties":{
"number":{"type":"integer","minimum":1},"status":{"enum":["mended","confirmed","rejected"]},"why":{"type":"string","maxLength":4000}}}}}}`

// Synonyms that models use for the schema's values.
var (
	verdicts = map[string]string{
		"approved": company.Approve, "approves": company.Approve, "accept": company.Approve, "accepted": company.Approve,
		"lgtm":              company.Approve,
		"changes_requested": company.RequestChanges, "request_change": company.RequestChanges,
		"requested_changes": company.RequestChanges,
		"reject":            company.RequestChanges, "rejected": company.RequestChanges,
	}
	severities = map[string]string{
		"blocker": "blocking", "block": "blocking", "major": company.LevelHigh, "error": company.LevelHigh,
		"moderate": company.LevelMedium, "warning": company.LevelMedium,
		"nit": company.LevelInfo, "note": company.LevelInfo, "suggestion": company.LevelInfo, "trivial": company.LevelInfo,
	}
	judgements = map[string]string{
		"fixed": company.FindingMended, "resolved": company.FindingMended, "addressed": company.FindingMended,
		"open": company.FindingConfirmed, "right": company.FindingConfirmed, "valid": company.FindingConfirmed,
		"stands": company.FindingConfirmed,
		"wrong":  company.FindingRejected, "invalid": company.FindingRejected, "false_positive": company.FindingRejected,
	}
	categories = map[string]string{
		"bug": company.CategoryCorrectness, "logic": company.CategoryCorrectness,
		"functionality": company.CategoryCorrectness,
		"test":          company.CategoryEvidence, "tests": company.CategoryEvidence, "testing": company.CategoryEvidence,
		"documentation": company.CategoryStyle, "docs": company.CategoryStyle, "readability": company.CategoryStyle,
		"naming": company.CategoryStyle,
	}
)

// amendReview converts common other forms of a review into the form of the schema: synonyms of a verdict,
// evidence and findings without a list around them, and evidence as plain text. Unknown forms stay unchanged,
// and the schema refuses them.
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

// amendEarlier converts the judgements on earlier findings into a list of objects with a known status.
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

// replaceSynonym replaces a synonym by the schema's value. It ignores case and surrounding spaces.
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

// amendEvidence converts evidence into a list of objects. Each line of a text becomes an entry.
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
				for _, key := range []string{"for", "ran", "read"} {
					switch list := item[key].(type) {
					case string, float64:
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

// splitSeverities sets whether each finding blocks, according to its level.
func splitSeverities(findings []company.Finding) {
	for i := range findings {
		finding := &findings[i]
		switch level := string(finding.Severity); level {
		case company.LevelCritical, company.LevelHigh:
			finding.Severity, finding.Level = company.Blocking, level
		case company.LevelMedium, company.LevelLow, company.LevelInfo:
			finding.Severity, finding.Level = company.Minor, level
		}
	}
}
