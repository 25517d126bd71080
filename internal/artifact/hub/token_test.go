package hub

import "testing"

func TestTokenIsWithheld(t *testing.T) {
	cases := map[string]struct {
		endpoint string
		tokenFor []string
		want     bool // that the token is kept
	}{
		"Default":      {"", []string{DefaultEndpoint}, true},
		"Unrestricted": {"https://hub.example", nil, true},
		"Same":         {"https://hub.example", []string{"https://hub.example"}, true},
		"Second":       {"https://hub.example", []string{DefaultEndpoint, "https://hub.example/"}, true},
		"Path":         {"https://hub.example/hf", []string{"https://hub.example"}, true},
		"DefaultPort":  {"https://hub.example:443", []string{"https://hub.example"}, true},
		"Case":         {"https://HUB.example", []string{"https://hub.example"}, true},
		"OtherHost":    {"https://evil.example", []string{"https://hub.example"}, false},
		"Subdomain":    {"https://hub.example.evil.example", []string{"https://hub.example"}, false},
		"Suffix":       {"https://evilhub.example", []string{"https://hub.example"}, false},
		"OtherPort":    {"https://hub.example:8443", []string{"https://hub.example"}, false},
		"PlainText":    {"http://hub.example", []string{"https://hub.example"}, false},
		"NoEndpoint":   {"https://hub.example", []string{"hub.example"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, err := New(Config{Endpoint: c.endpoint, Token: "t", TokenFor: c.tokenFor})
			if err != nil {
				t.Fatal(err)
			}
			if kept := client.cfg.Token != ""; kept != c.want || client.withheld == c.want {
				t.Errorf("kept %v, withheld %v; want kept %v", kept, client.withheld, c.want)
			}
		})
	}
}
