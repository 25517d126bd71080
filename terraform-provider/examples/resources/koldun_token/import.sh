terraform import koldun_token.ci 'ci'
