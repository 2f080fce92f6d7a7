//go:build ignore

// Trim makes github.json.gz of GitHub's OpenAPI description:
//
//	npm pack @octokit/openapi@23.0.2
//	tar xzf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json
//	go run trim.go package/generated/api.github.com.json github.json.gz
//
// It keeps the operations that a pull request's client uses and the components
// that they need, and leaves out words and examples.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// keep are the operations, by path.
var keep = map[string]string{
	"/user":       "get",
	"/rate_limit": "get",
	"/app/installations/{installation_id}/access_tokens":            "post",
	"/repos/{owner}/{repo}":                                         "get",
	"/repos/{owner}/{repo}/installation":                            "get",
	"/repos/{owner}/{repo}/branches/{branch}":                       "get",
	"/repos/{owner}/{repo}/collaborators/{username}/permission":     "get",
	"/repos/{owner}/{repo}/commits/{ref}/check-runs":                "get",
	"/repos/{owner}/{repo}/commits/{ref}/status":                    "get",
	"/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations":   "get",
	"/repos/{owner}/{repo}/actions/jobs/{job_id}/logs":              "get",
	"/repos/{owner}/{repo}/contents/{path}":                         "get",
	"/repos/{owner}/{repo}/forks":                                   "get post",
	"/repos/{owner}/{repo}/git/ref/{ref}":                           "get",
	"/repos/{owner}/{repo}/issues/{issue_number}":                   "get",
	"/repos/{owner}/{repo}/issues/{issue_number}/comments":          "get post",
	"/repos/{owner}/{repo}/issues/{issue_number}/labels":            "get post",
	"/repos/{owner}/{repo}/pulls":                                   "get post",
	"/repos/{owner}/{repo}/pulls/{pull_number}":                     "get patch",
	"/repos/{owner}/{repo}/pulls/{pull_number}/comments":            "get post",
	"/repos/{owner}/{repo}/pulls/{pull_number}/commits":             "get",
	"/repos/{owner}/{repo}/pulls/{pull_number}/files":               "get",
	"/repos/{owner}/{repo}/pulls/{pull_number}/reviews":             "get post",
	"/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers": "get post",
	"/repos/{owner}/{repo}/pulls/{pull_number}/merge":               "put",
	"/repos/{owner}/{repo}/statuses/{sha}":                          "post",
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	all, paths := doc["paths"].(map[string]any), map[string]any{}
	for path, methods := range keep {
		item, ok := all[path].(map[string]any)
		if !ok {
			return fmt.Errorf("there is no %s", path)
		}
		some := map[string]any{}
		for key, v := range item {
			if key == "parameters" || slices.Contains(strings.Fields(methods), key) {
				some[key] = v
			}
		}
		paths[path] = some
	}
	small := map[string]any{"openapi": doc["openapi"], "info": map[string]any{"title": "GitHub REST API, trimmed", "version": doc["info"].(map[string]any)["version"],
		"license": doc["info"].(map[string]any)["license"]}, "paths": strip(paths, "")}
	components := map[string]map[string]any{}
	from := doc["components"].(map[string]any)
	var need func(v any) error
	need = func(v any) error {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				part := strings.Split(ref, "/") // #/components/<kind>/<name>
				if components[part[2]] == nil {
					components[part[2]] = map[string]any{}
				}
				if _, done := components[part[2]][part[3]]; !done {
					under := ""
					if part[2] == "responses" {
						under = part[2]
					}
					got := strip(from[part[2]].(map[string]any)[part[3]], under)
					components[part[2]][part[3]] = got
					return need(got)
				}
			}
			for _, sub := range v {
				if err := need(sub); err != nil {
					return err
				}
			}
		case []any:
			for _, sub := range v {
				if err := need(sub); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := need(small["paths"]); err != nil {
		return err
	}
	small["components"] = components
	js, err := json.Marshal(small)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(js); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("%d bytes, %d packed\n", len(js), packed.Len())
	return os.WriteFile(out, packed.Bytes(), 0o644)
}

// strip leaves out words, examples and extensions. Below "properties" every
// key is a property's name.
func strip(v any, under string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, sub := range v {
			names := under == "properties"
			switch {
			case !names && (key == "examples" || key == "example" || key == "externalDocs" || key == "tags" || key == "summary" ||
				key == "title" || strings.HasPrefix(key, "x-")):
			case !names && key == "description":
				if _, isText := sub.(string); isText {
					if under == "responses" { // required there
						out[key] = "."
					}
					continue
				}
				out[key] = strip(sub, key)
			default:
				next := key
				if under == "responses" && !names {
					next = "responses"
				}
				out[key] = strip(sub, next)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, sub := range v {
			out[i] = strip(sub, under)
		}
		return out
	}
	return v
}
