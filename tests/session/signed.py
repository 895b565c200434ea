"""signed: is a request of S3 signed as botocore would sign it?"""
import datetime

import botocore.auth
import botocore.awsrequest
import botocore.credentials


def is_signed(handler, key="test-id", secret="test-secret", region="eu-test-1"):
    """Does botocore, at the time that the request names, come to the same signature?"""
    given = handler.headers.get("Authorization", "")
    when = handler.headers.get("x-amz-date", "")
    if not given or not when:
        return False
    auth = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(key, secret), "s3", region)
    request = botocore.awsrequest.AWSRequest(
        "GET", f"http://{handler.headers['Host']}{handler.path}",
        headers={"Host": handler.headers["Host"], "x-amz-content-sha256": handler.headers["x-amz-content-sha256"]})
    fixed = datetime.datetime.strptime(when, "%Y%m%dT%H%M%SZ")

    class Clock(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return fixed

    real, botocore.auth.datetime = botocore.auth.datetime, type("clock", (), {"datetime": Clock})
    try:
        auth.add_auth(request)
    finally:
        botocore.auth.datetime = real
    return request.headers["Authorization"] == given
