terraform import koldun_token.ci 'ci'
# In another bucket of the registry, or with other keys. Either may be left out.
terraform import koldun_token.ci 'ci?bucket=other_tokens&prefix=team/'
